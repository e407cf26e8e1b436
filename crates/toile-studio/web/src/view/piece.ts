import {
  BufferAttribute,
  BufferGeometry,
  DynamicDrawUsage,
  Mesh,
  type Material,
  type Object3D,
} from 'three';
import type { KeyObject } from '../frames';
import type { ObjectInfo } from '../protocol';
import { bodyMaterial, clothMaterial, colour, MARKS, plainMaterial, wireMaterial } from './material';

/** An object of the scene as it is drawn and picked. */
export class Piece {
  info: ObjectInfo;
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly faces: Uint32Array;
  /** Material coordinates [m], two numbers a vertex, if there are any. */
  readonly uv: Float32Array | null;
  readonly mesh: Mesh;
  readonly wire: Mesh;
  /** Both surfaces of the cloth at half its thickness. */
  readonly shells: Mesh[] = [];
  /** What refinement did to each face, if it did anything. */
  readonly marks: Uint8Array | null;
  /** Faces by their mark, which can be shown in place of the cloth; made when first wanted. */
  #marked: Mesh[] = [];
  readonly #geometry = new BufferGeometry();
  readonly #scalar: Float32Array;
  readonly #offsets = [{ value: 0 }, { value: 0 }];

  constructor(info: ObjectInfo, key: KeyObject) {
    this.info = info;
    this.positions = key.positions.slice();
    this.faces = key.faces.slice();
    const vertices = this.positions.length / 3;
    this.uv = key.uv?.slice() ?? null;
    this.marks = key.marks?.slice() ?? null;
    this.normals = new Float32Array(this.positions.length);
    this.#scalar = new Float32Array(vertices);
    const geometry = this.#geometry;
    geometry.setIndex(new BufferAttribute(this.faces, 1));
    geometry.setAttribute('position', new BufferAttribute(this.positions, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute('normal', new BufferAttribute(this.normals, 3).setUsage(DynamicDrawUsage));
    const front = colour(info.colours[0]);
    // Only what never bends keeps hard edges: cloth that is crumpled when a page comes is not a box.
    const flat = (info.role === 'body' || info.guest) && boxy(this.positions, this.faces);
    let material: Material;
    if (info.role === 'cloth') {
      geometry.setAttribute('scalar', new BufferAttribute(this.#scalar, 1).setUsage(DynamicDrawUsage));
      geometry.setAttribute('cloth', new BufferAttribute(this.uv ?? new Float32Array(2 * vertices), 2));
      const back = colour(info.colours[1]);
      const look = { front, back, woven: key.uv !== null, flat };
      material = clothMaterial(look);
      for (const offset of this.#offsets) {
        const shell = new Mesh(geometry, clothMaterial({ ...look, woven: false, offset, shell: true }));
        shell.visible = false;
        shell.frustumCulled = false;
        this.shells.push(shell);
      }
    } else {
      material = bodyMaterial({ front, flat });
    }
    this.mesh = new Mesh(geometry, material);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    // Bounds would have to be found anew for every frame; drawing is cheaper.
    this.mesh.frustumCulled = false;
    this.wire = new Mesh(geometry, wireMaterial());
    this.wire.frustumCulled = false;
    this.wire.visible = false;
    this.#shade();
  }

  get parts(): Object3D[] {
    return [this.mesh, this.wire, ...this.shells, ...this.#marked];
  }

  /** Whether this is what a key says, but for where it is: then it need not be made anew. */
  fits(info: ObjectInfo, key: KeyObject): boolean {
    const { name, role, guest, mesh, colours } = this.info;
    const looks = name === info.name && role === info.role && guest === info.guest && mesh === info.mesh && colours.every((one, k) => one === info.colours[k]);
    return looks && key.positions.length === this.positions.length && equal(this.faces, key.faces) && equal(this.uv ?? [], key.uv ?? []) && equal(this.marks ?? [], key.marks ?? []);
  }

  /** Takes a frame's places, if they fit. */
  move(positions: Float32Array, scalar: Float32Array | null): void {
    if (positions.length !== this.positions.length) return;
    this.positions.set(positions);
    this.#geometry.attributes.position.needsUpdate = true;
    if (scalar && this.info.role === 'cloth') {
      this.#scalar.set(scalar);
      this.#geometry.attributes.scalar.needsUpdate = true;
    }
    this.#shade();
  }

  /** Thickness of the shells [m]. */
  thicken(thickness: number): void {
    this.#offsets[0].value = thickness / 2;
    this.#offsets[1].value = -thickness / 2;
  }

  /** Shows faces in the colours of their marks, or the cloth. */
  mark(on: boolean): void {
    if (this.info.role !== 'cloth') return;
    if (on && this.#marked.length === 0) {
      this.#marked = MARKS.map(([, text], mark) => this.#faces(mark, text));
      this.mesh.parent?.add(...this.#marked);
    }
    this.mesh.visible = !on;
    for (const mesh of this.#marked) mesh.visible = on;
  }

  #faces(mark: number, text: string): Mesh {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', this.#geometry.attributes.position);
    geometry.setAttribute('normal', this.#geometry.attributes.normal);
    geometry.setIndex(new BufferAttribute(this.faces.filter((_, k) => (this.marks?.[Math.floor(k / 3)] ?? 0) === mark), 1));
    const mesh = new Mesh(geometry, plainMaterial(text));
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    return mesh;
  }

  dispose(): void {
    this.#geometry.dispose();
    for (const { geometry } of this.#marked) geometry.dispose();
    for (const part of [this.mesh, this.wire, ...this.shells, ...this.#marked]) (part.material as Material).dispose();
  }

  /** Normals of vertices: those of the faces around, by area. */
  #shade(): void {
    const p = this.positions;
    const n = this.normals;
    const f = this.faces;
    n.fill(0);
    for (let k = 0; k < f.length; k += 3) {
      const a = 3 * f[k];
      const b = 3 * f[k + 1];
      const c = 3 * f[k + 2];
      const ux = p[b] - p[a];
      const uy = p[b + 1] - p[a + 1];
      const uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a];
      const vy = p[c + 1] - p[a + 1];
      const vz = p[c + 2] - p[a + 2];
      const x = uy * vz - uz * vy;
      const y = uz * vx - ux * vz;
      const z = ux * vy - uy * vx;
      n[a] += x;
      n[a + 1] += y;
      n[a + 2] += z;
      n[b] += x;
      n[b + 1] += y;
      n[b + 2] += z;
      n[c] += x;
      n[c + 1] += y;
      n[c + 2] += z;
    }
    for (let k = 0; k < n.length; k += 3) {
      const length = Math.hypot(n[k], n[k + 1], n[k + 2]) || 1;
      n[k] /= length;
      n[k + 1] /= length;
      n[k + 2] /= length;
    }
    this.#geometry.attributes.normal.needsUpdate = true;
  }
}

function equal(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let k = 0; k < a.length; k += 1) if (a[k] !== b[k]) return false;
  return true;
}

/** Whether faces meet either flat or at sharp edges, as on a cube. */
function boxy(p: Float32Array, f: Uint32Array): boolean {
  const sides = new Map<string, [number, number, number]>();
  let sharp = 0;
  let soft = 0;
  for (let k = 0; k < f.length; k += 3) {
    const [a, b, c] = [3 * f[k], 3 * f[k + 1], 3 * f[k + 2]];
    const u = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
    const v = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
    const n: [number, number, number] = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const length = Math.hypot(...n) || 1;
    for (let axis = 0; axis < 3; axis += 1) n[axis] /= length;
    for (let corner = 0; corner < 3; corner += 1) {
      const [from, to] = [f[k + corner], f[k + ((corner + 1) % 3)]];
      const name = from < to ? `${from},${to}` : `${to},${from}`;
      const other = sides.get(name);
      if (!other) {
        sides.set(name, n);
        continue;
      }
      const cosine = n[0] * other[0] + n[1] * other[1] + n[2] * other[2];
      if (cosine < 0.6) sharp += 1;
      else if (cosine < 0.985) soft += 1;
    }
  }
  return sharp > 0 && sharp > 4 * soft;
}
