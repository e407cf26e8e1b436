import type { Piece } from './view/piece';

/** A stretch of border from corner to corner, faces to its left; closed if it comes back to its first vertex. */
export interface Border {
  path: number[];
  closed: boolean;
}

/** How faces, edges and borders of a piece hang together. */
export class Sheet {
  /** For each corner of a face, the face across the side that begins there; -1 on a border. */
  readonly across: Int32Array;
  /** For each face, the number of the part of the cloth it belongs to. */
  readonly part: Int32Array;
  /** For each vertex on a border, the next one, faces to the left. */
  readonly next = new Map<number, number>();
  /** The corner across from that side. */
  readonly apex = new Map<number, number>();
  readonly #piece: Piece;
  #neighbours: number[][] | null = null;

  constructor(piece: Piece) {
    this.#piece = piece;
    const f = piece.faces;
    const vertices = piece.positions.length / 3;
    this.across = new Int32Array(f.length).fill(-1);
    const sides = new Map<number, number>();
    for (let k = 0; k < f.length; k += 1) sides.set(f[k] * vertices + f[after(k)], k);
    for (let k = 0; k < f.length; k += 1) {
      const other = sides.get(f[after(k)] * vertices + f[k]);
      if (other === undefined) {
        this.next.set(f[k], f[after(k)]);
        this.apex.set(f[k], f[after(after(k))]);
      } else this.across[k] = Math.floor(other / 3);
    }
    this.part = new Int32Array(f.length / 3).fill(-1);
    let parts = 0;
    for (let face = 0; face < this.part.length; face += 1) {
      if (this.part[face] >= 0) continue;
      this.#walk(face, (one) => {
        if (this.part[one] >= 0) return false;
        this.part[one] = parts;
        return true;
      });
      parts += 1;
    }
  }

  /** Goes from a face to those beside it as long as they are wanted. */
  #walk(from: number, wanted: (face: number) => boolean): void {
    const waiting = wanted(from) ? [from] : [];
    for (let face = waiting.pop(); face !== undefined; face = waiting.pop()) {
      for (let k = 3 * face; k < 3 * face + 3; k += 1) {
        const other = this.across[k];
        if (other >= 0 && wanted(other)) waiting.push(other);
      }
    }
  }

  /** Faces whose middles are within a distance [m] of a place on a face, joined to it. */
  under(face: number, place: readonly number[], radius: number): number[] {
    const { positions: p, faces: f } = this.#piece;
    const seen = new Set<number>();
    const found: number[] = [];
    this.#walk(face, (one) => {
      if (seen.has(one)) return false;
      seen.add(one);
      const away = [0, 1, 2].map((axis) => (p[3 * f[3 * one] + axis] + p[3 * f[3 * one + 1] + axis] + p[3 * f[3 * one + 2] + axis]) / 3 - place[axis]);
      if (one !== face && Math.hypot(...away) > radius) return false;
      found.push(one);
      return true;
    });
    return found;
  }

  /** All faces of the part that a face belongs to. */
  whole(face: number): number[] {
    const found: number[] = [];
    this.part.forEach((part, one) => {
      if (part === this.part[face]) found.push(one);
    });
    return found;
  }

  /** The border through a vertex, all round. */
  loop(vertex: number): number[] {
    const path = [vertex];
    for (let at = this.next.get(vertex); at !== undefined && at !== vertex && path.length <= this.next.size; at = this.next.get(at)) path.push(at);
    return path;
  }

  /** The border through the side that begins at a vertex, from corner to corner. */
  border(vertex: number): Border {
    const loop = this.loop(vertex);
    const angles = this.#angles();
    // Far from a half turn.
    const corner = loop.map((one) => Math.abs(angles[one] - Math.PI) > Math.PI / 6);
    if (!corner.includes(true)) return { path: [...loop, vertex], closed: true };
    let begin = 0;
    while (!corner[(begin + loop.length) % loop.length]) begin -= 1;
    const path: number[] = [];
    for (let k = begin; ; k += 1) {
      const at = (k + 2 * loop.length) % loop.length;
      path.push(loop[at]);
      if (k >= 1 && corner[at]) return { path, closed: path[0] === path[path.length - 1] };
    }
  }

  /** The sum of the angles of the faces at each vertex [rad]: in the material where that is known, for cloth that hangs is sheared. */
  #angles(): Float64Array {
    const { positions, uv, faces: f } = this.#piece;
    const [p, size] = uv ? [uv, 2] : [positions, 3];
    const sums = new Float64Array(positions.length / 3);
    for (let k = 0; k < f.length; k += 1) {
      const [a, b, c] = [size * f[k], size * f[after(k)], size * f[after(after(k))]];
      let [dot, u, v] = [0, 0, 0];
      for (let axis = 0; axis < size; axis += 1) {
        const [to, from] = [p[b + axis] - p[a + axis], p[c + axis] - p[a + axis]];
        dot += to * from;
        u += to * to;
        v += from * from;
      }
      sums[f[k]] += Math.acos(Math.max(-1, Math.min(1, dot / (Math.sqrt(u * v) || 1))));
    }
    return sums;
  }

  /** The shortest way along edges from a vertex to another, both included; nothing if there is none. */
  along(from: number, to: number): number[] {
    const p = this.#piece.positions;
    const around = this.#around();
    const way = new Map<number, { length: number; before: number }>([[from, { length: 0, before: -1 }]]);
    const open = new Set([from]);
    while (open.size > 0) {
      let here = -1;
      for (const one of open) if (here < 0 || (way.get(one)?.length ?? 0) < (way.get(here)?.length ?? 0)) here = one;
      if (here === to) break;
      open.delete(here);
      for (const one of around[here]) {
        const length = (way.get(here)?.length ?? 0) + Math.hypot(p[3 * one] - p[3 * here], p[3 * one + 1] - p[3 * here + 1], p[3 * one + 2] - p[3 * here + 2]);
        if (length < (way.get(one)?.length ?? Infinity)) {
          way.set(one, { length, before: here });
          open.add(one);
        }
      }
    }
    const path: number[] = [];
    for (let at: number | undefined = way.has(to) ? to : undefined; at !== undefined && at >= 0; at = way.get(at)?.before) path.unshift(at);
    return path;
  }

  #around(): number[][] {
    if (this.#neighbours) return this.#neighbours;
    const f = this.#piece.faces;
    const sets = Array.from({ length: this.#piece.positions.length / 3 }, () => new Set<number>());
    for (let k = 0; k < f.length; k += 1) {
      sets[f[k]].add(f[after(k)]);
      sets[f[after(k)]].add(f[k]);
    }
    this.#neighbours = sets.map((set) => [...set]);
    return this.#neighbours;
  }
}

/** The next corner of the same face. */
function after(corner: number): number {
  return corner % 3 === 2 ? corner - 2 : corner + 1;
}

const sheets = new WeakMap<Piece, Sheet>();

/** The sheet of a piece; found once, since pieces with another mesh are others. */
export function sheetOf(piece: Piece): Sheet {
  const known = sheets.get(piece);
  if (known) return known;
  const made = new Sheet(piece);
  sheets.set(piece, made);
  return made;
}

/** Pairs of vertices of two borders, by the part of the way along each: every vertex of the one with fewer has its own. */
export function pairs(piece: Piece, first: Border, second: Border): [number, number][] {
  const p = piece.positions;
  const away = (a: number, b: number): number => Math.hypot(p[3 * a] - p[3 * b], p[3 * a + 1] - p[3 * b + 1], p[3 * a + 2] - p[3 * b + 2]);
  // Faces lie to the left of both: sewn together, they run against each other.
  let other = [...second.path].reverse();
  if (first.closed && second.closed) {
    const ring = other.slice(1);
    const start = ring.reduce((best, one, k) => (away(one, first.path[0]) < away(ring[best], first.path[0]) ? k : best), 0);
    other = [...ring.slice(start), ...ring.slice(0, start + 1)];
  }
  const parts = (path: number[]): number[] => {
    let sum = 0;
    const at = path.map((one, k) => (sum += k > 0 ? away(one, path[k - 1]) : 0));
    return at.map((way) => way / (sum || 1));
  };
  const swap = other.length < first.path.length;
  const [few, many] = swap ? [other, first.path] : [first.path, other];
  const [s, t] = [parts(few), parts(many)];
  let from = 0;
  const found = few.map((one, i): [number, number] => {
    const last = many.length - (few.length - i);
    let best = i === few.length - 1 ? last : from;
    if (i > 0 && i < few.length - 1) for (let j = from; j <= last; j += 1) if (Math.abs(t[j] - s[i]) < Math.abs(t[best] - s[i])) best = j;
    from = best + 1;
    return swap ? [many[best], one] : [one, many[best]];
  });
  // Closed borders end where they began.
  return first.closed && second.closed ? found.slice(0, -1) : found;
}

/** Whether cloth that is sewn so holds together by edges, not at single points: each pair has another beside it on both borders. */
export function hold({ next }: Sheet, sewn: readonly [number, number][]): boolean {
  const other = new Map(sewn);
  const edge = sewn.map(([a, b]) => {
    const beside = other.get(next.get(a) ?? -1);
    return beside !== undefined && next.get(beside) === b;
  });
  return edge.every((yes, k) => yes || edge[(k + edge.length - 1) % edge.length]);
}
