// The small page: cloth moving in plain WebGL, without any package. Speaks the protocol of src/protocol.rs and src/wire.rs.
'use strict';

const byId = (id) => document.getElementById(id);
const canvas = byId('view');
const gl = canvas.getContext('webgl2', { antialias: !location.search.includes('noaa') });
const view = { yaw: 0.62, pitch: 0.3, distance: 3, target: [0, 0, 0] };
let objects = [];
let info = null;
let coming = null;
let revision = 0;
let playing = false;
let asked = false;
let waiting = [];
let socket = null;
let edits = 0;

const VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
uniform mat4 matrix;
out vec3 side;
void main() { side = normal; gl_Position = matrix * vec4(place, 1.0); }`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 side;
uniform vec3 front;
uniform vec3 back;
out vec4 colour;
void main() {
  vec3 n = normalize(side) * (gl_FrontFacing ? 1.0 : -1.0);
  float key = max(0.0, dot(n, normalize(vec3(0.5, 1.0, 0.6))));
  float light = 0.42 + 0.2 * n.y + 0.55 * key;
  colour = vec4(pow((gl_FrontFacing ? front : back) * light, vec3(1.0 / 2.2)), 1.0);
}`;

function program() {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return made;
}

function colour(text) {
  const valid = /^#[0-9a-f]{6}$/i.test(text) ? text : '#9aa0a6';
  return [1, 3, 5].map((k) => (parseInt(valid.slice(k, k + 2), 16) / 255) ** 2.2);
}

function normals(p, f) {
  const n = new Float32Array(p.length);
  for (let k = 0; k < f.length; k += 3) {
    const [a, b, c] = [3 * f[k], 3 * f[k + 1], 3 * f[k + 2]];
    const u = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
    const v = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
    const m = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    for (const at of [a, b, c]) for (let axis = 0; axis < 3; axis += 1) n[at + axis] += m[axis];
  }
  return n;
}

function upload(object) {
  gl.bindBuffer(gl.ARRAY_BUFFER, object.places);
  gl.bufferData(gl.ARRAY_BUFFER, object.positions, gl.DYNAMIC_DRAW);
  gl.bindBuffer(gl.ARRAY_BUFFER, object.normals);
  gl.bufferData(gl.ARRAY_BUFFER, normals(object.positions, object.faces), gl.DYNAMIC_DRAW);
}

function readKey(buffer) {
  const words = new DataView(buffer);
  let at = 4;
  const word = () => (at += 4, words.getUint32(at - 4, true));
  const found = word();
  const number = word();
  if (!coming || coming.revision !== found || coming.objects.length !== number) return;
  const fresh = coming.name !== info?.name;
  info = coming;
  revision = found;
  waiting = [];
  objects = info.objects.map((one) => {
    const [vertices, faces, flags] = [word(), word(), word()];
    const positions = new Float32Array(buffer, at, 3 * vertices);
    at += 12 * vertices + (flags & 1 ? 8 * vertices : 0);
    const corners = new Uint32Array(buffer, at, 3 * faces);
    at += 12 * faces + (flags & 2 ? 4 * Math.ceil(faces / 4) : 0);
    const object = { positions, faces: corners, array: gl.createVertexArray(), places: gl.createBuffer(), normals: gl.createBuffer(), colours: one.colours.map(colour) };
    gl.bindVertexArray(object.array);
    upload(object);
    [object.places, object.normals].forEach((buffer, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    return object;
  });
  byId('scene').textContent = info.name;
  if (fresh) look();
  draw();
}

function look() {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { positions } of objects) {
    positions.forEach((value, k) => {
      low[k % 3] = Math.min(low[k % 3], value);
      high[k % 3] = Math.max(high[k % 3], value);
    });
  }
  view.target = low.map((value, k) => (value + high[k]) / 2);
  view.distance = 2.1 * Math.hypot(...low.map((value, k) => high[k] - value));
}

function readFrame(buffer) {
  const words = new DataView(buffer);
  const frame = { serial: words.getUint32(4, true), tick: words.getUint32(12, true) + 2 ** 32 * words.getUint32(16, true), time: words.getFloat64(24, true) };
  if (words.getUint32(8, true) === revision) {
    let at = 36;
    for (let n = words.getUint32(32, true); n > 0; n -= 1) {
      const object = objects[words.getUint32(at, true)];
      const vertices = words.getUint32(at + 4, true);
      if (object && object.positions.length === 3 * vertices) {
        object.positions = new Float32Array(buffer, at + 8, 3 * vertices);
        object.stale = true;
      }
      at += 8 + 12 * vertices;
    }
    byId('clock').textContent = `${frame.time.toFixed(2)} s · tick ${frame.tick}`;
  }
  waiting.push(frame.serial);
  draw();
}

function matrix() {
  const aspect = canvas.width / canvas.height;
  const [sy, cy, sp, cp] = [Math.sin(view.yaw), Math.cos(view.yaw), Math.sin(view.pitch), Math.cos(view.pitch)];
  const z = [sy * cp, sp, cy * cp];
  const x = [cy, 0, -sy];
  const y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
  const eye = view.target.map((value, k) => value + view.distance * z[k]);
  const dot = (a) => -(a[0] * eye[0] + a[1] * eye[1] + a[2] * eye[2]);
  const f = 1 / Math.tan(0.28);
  const [near, far] = [0.02 * view.distance, 20 * view.distance];
  const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
  const columns = [];
  for (let k = 0; k < 3; k += 1) columns.push((f / aspect) * x[k], f * y[k], a * z[k], -z[k]);
  columns.push((f / aspect) * dot(x), f * dot(y), a * dot(z) + b, -dot(z));
  return new Float32Array(columns);
}

const shader = gl && program();

function draw() {
  if (asked || !gl) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    const ratio = Math.min(2, devicePixelRatio);
    canvas.width = Math.max(1, canvas.clientWidth * ratio);
    canvas.height = Math.max(1, canvas.clientHeight * ratio);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.07, 0.086, 0.106, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(shader);
    gl.uniformMatrix4fv(gl.getUniformLocation(shader, 'matrix'), false, matrix());
    for (const object of objects) {
      gl.bindVertexArray(object.array);
      if (object.stale) upload(object);
      object.stale = false;
      gl.uniform3fv(gl.getUniformLocation(shader, 'front'), object.colours[0]);
      gl.uniform3fv(gl.getUniformLocation(shader, 'back'), object.colours[1]);
      gl.drawElements(gl.TRIANGLES, object.faces.length, gl.UNSIGNED_INT, 0);
    }
    for (const serial of waiting) say({ say: 'ack', serial });
    waiting = [];
  });
}

function say(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function connect() {
  const room = /^\/r\/([^/]+)/.exec(location.pathname)?.[1] ?? 'studio';
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/${room}`);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => say({ say: 'hello', protocol: 1, format: 'f32', name: 'Guest' });
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') {
      if (new Uint8Array(data)[0] === 1) readKey(data);
      else readFrame(data);
      return;
    }
    const message = JSON.parse(data);
    if (message.say === 'scene') coming = message;
    if (message.say === 'room') {
      playing = message.playing;
      byId('play').textContent = playing ? 'Pause' : 'Play';
    }
    if (message.say === 'note' || (message.say === 'edited' && message.error)) byId('clock').textContent = message.text ?? message.error;
  };
  socket.onclose = () => {
    byId('clock').textContent = 'No engine; trying again…';
    setTimeout(connect, 2000);
  };
}

byId('play').onclick = () => say({ say: playing ? 'pause' : 'play' });
byId('step').onclick = () => say({ say: 'step' });
byId('reset').onclick = () => say({ say: 'edit', id: ++edits, edit: { do: 'reset' } });
addEventListener('keydown', (event) => {
  if (event.key !== ' ' || event.target.matches('button')) return;
  event.preventDefault();
  byId('play').click();
});
canvas.onpointerdown = (event) => canvas.setPointerCapture(event.pointerId);
canvas.onpointermove = (event) => {
  if (!event.buttons) return;
  view.yaw -= 0.006 * event.movementX;
  view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + 0.006 * event.movementY));
  draw();
};
canvas.addEventListener('wheel', (event) => {
  event.preventDefault();
  view.distance *= Math.exp(0.0012 * event.deltaY);
  draw();
}, { passive: false });
addEventListener('resize', draw);
if (gl) connect();
else byId('clock').textContent = 'This browser has no WebGL 2: nothing can be drawn.';
