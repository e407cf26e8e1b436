import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, LineBasicMaterial, LineSegments, Points, ShaderMaterial } from 'three';

/** Round dots of a fixed size on the screen, with a rim so that they show on any colour. */
export class Dots {
  readonly points: Points<BufferGeometry, ShaderMaterial>;

  constructor(colour: string, size: number, through: boolean) {
    const material = new ShaderMaterial({
      transparent: true,
      depthTest: !through,
      depthWrite: false,
      uniforms: { colour: { value: new Color(colour) }, size: { value: size * Math.min(2, devicePixelRatio) } },
      vertexShader: `
        uniform float size;
        void main() {
          gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
          // A hair nearer, so that the surface they lie on does not cut them.
          gl_Position.z -= 0.002 * gl_Position.w;
          gl_PointSize = size;
        }`,
      fragmentShader: `
        uniform vec3 colour;
        void main() {
          float r = 2.0 * length(gl_PointCoord - 0.5);
          float inside = 1.0 - smoothstep(0.86, 1.0, r);
          if (inside < 0.01) discard;
          vec3 shade = mix(colour, vec3(1.0), smoothstep(0.52, 0.66, r));
          gl_FragColor = vec4(shade, inside);
          #include <colorspace_fragment>
        }`,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 5;
  }

  set(places: Float32Array): void {
    fill(this.points.geometry, places);
    this.points.visible = places.length > 0;
  }
}

/** Thin lines between pairs of places. */
export class Lines {
  readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;

  constructor(colour: string, through: boolean, opacity = 0.9) {
    const material = new LineBasicMaterial({ color: colour, transparent: true, opacity, depthTest: !through });
    this.lines = new LineSegments(new BufferGeometry(), material);
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 4;
  }

  set(places: Float32Array): void {
    fill(this.lines.geometry, places);
    this.lines.visible = places.length > 0;
  }
}

/** Buffers grow by doubling, so that frames do not make garbage. */
function fill(geometry: BufferGeometry, places: Float32Array): void {
  const old = geometry.getAttribute('position') as BufferAttribute | undefined;
  if (!old || old.array.length < places.length) {
    const room = new Float32Array(Math.max(96, 2 * places.length - (places.length % 3)));
    const size = room.length - (room.length % 3);
    geometry.dispose();
    geometry.setAttribute('position', new BufferAttribute(room.subarray(0, size), 3).setUsage(DynamicDrawUsage));
  }
  const attribute = geometry.getAttribute('position') as BufferAttribute;
  (attribute.array as Float32Array).set(places);
  attribute.needsUpdate = true;
  geometry.setDrawRange(0, places.length / 3);
}
