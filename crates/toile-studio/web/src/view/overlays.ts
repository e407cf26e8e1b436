import { Group } from 'three';
import type { Panels, Scalar } from '../protocol';
import { ceiling } from '../format';
import { Value } from '../value';
import { Dots, Lines } from './dots';
import { scale } from './material';
import type { Piece } from './piece';

/** What colours show: a number that the server sends, or what refinement did. */
export type Colouring = Scalar | 'marks';

/** What is drawn besides the surfaces. */
export interface Shown {
  scalar: Colouring;
  contacts: boolean;
  pins: boolean;
  normals: boolean;
  wireframe: boolean;
  thickness: boolean;
  /** How much thicker shells are drawn than the cloth is. */
  exaggeration: number;
  grid: boolean;
}

export const NOTHING: Shown = {
  scalar: 'none',
  contacts: false,
  pins: true,
  normals: false,
  wireframe: false,
  thickness: false,
  exaggeration: 10,
  grid: true,
};

export interface Range {
  scalar: Colouring;
  high: number;
  /** The largest value in the frame. */
  largest: number;
}

export class Overlays {
  readonly group = new Group();
  /** Ends of the colour scale, for the legend. */
  readonly range = new Value<Range>({ scalar: 'none', high: 1, largest: 0 });
  readonly #pins = new Dots('#ff5c7a', 9, false);
  readonly #touch = new Dots('#ffb020', 6, true);
  readonly #bridges = new Lines('#ffb020', true);
  readonly #normals = new Lines('#4dc3ff', false, 0.8);
  #quiet = 0;

  constructor() {
    this.group.add(this.#pins.points, this.#touch.points, this.#bridges.lines, this.#normals.lines);
  }

  update(pieces: readonly Piece[], shown: Shown, panels: Panels | null, contacts: Float32Array | null, wire: number): void {
    for (const piece of pieces) {
      piece.mark(shown.scalar === 'marks');
      piece.wire.visible = shown.wireframe;
      (piece.wire.material as unknown as { color: { setHex(hex: number): void } }).color.setHex(wire);
      const thickness = panels?.fabrics.find(([id]) => id === piece.info.id)?.[1].thickness ?? 0;
      piece.thicken(thickness * shown.exaggeration);
      for (const shell of piece.shells) shell.visible = shown.thickness && thickness > 0;
    }
    this.#pins.set(shown.pins && panels ? places(pieces, panels.pinned) : EMPTY);
    this.#touch.set(shown.contacts && contacts ? middles(contacts) : EMPTY);
    this.#bridges.set(shown.contacts && contacts ? contacts : EMPTY);
    this.#normals.set(shown.normals ? needles(pieces) : EMPTY);
  }

  /** Fits the colour scale to a frame: grows at once, shrinks when values stay low. */
  rescale(scalar: Colouring, values: readonly (Float32Array | null)[]): void {
    const plain = scalar === 'none' || scalar === 'marks';
    scale.on.value = plain ? 0 : 1;
    if (plain) {
      if (this.range.now.scalar !== scalar) this.range.set({ scalar, high: 1, largest: 0 });
      return;
    }
    let largest = 0;
    for (const list of values) {
      if (list) for (const value of list) if (value > largest) largest = value;
    }
    // Half a per cent, or a centimetre per second: less is not worth a colour.
    const high = ceiling(Math.max(largest, scalar === 'strain' ? 0.005 : 0.01));
    const before = this.range.now;
    this.#quiet = high < before.high ? this.#quiet + 1 : 0;
    const kept = before.scalar === scalar && high < before.high && this.#quiet < 90 ? before.high : high;
    if (kept === high) this.#quiet = 0;
    scale.range.value.set(0, kept);
    this.range.set({ scalar, high: kept, largest });
  }
}

const EMPTY = new Float32Array(0);

function places(pieces: readonly Piece[], pinned: Panels['pinned']): Float32Array {
  const found: number[] = [];
  for (const [id, vertices] of pinned) {
    const p = pieces.find((piece) => piece.info.id === id)?.positions;
    if (!p) continue;
    for (const vertex of vertices) {
      const k = 3 * vertex;
      if (k + 2 < p.length) found.push(p[k], p[k + 1], p[k + 2]);
    }
  }
  return new Float32Array(found);
}

function middles(contacts: Float32Array): Float32Array {
  const found = new Float32Array(contacts.length / 2);
  for (let k = 0; k < found.length / 3; k += 1) {
    for (let axis = 0; axis < 3; axis += 1) {
      found[3 * k + axis] = (contacts[6 * k + axis] + contacts[6 * k + 3 + axis]) / 2;
    }
  }
  return found;
}

/** A line along each normal, as long as an edge of a face is on average. */
function needles(pieces: readonly Piece[]): Float32Array {
  const found: number[] = [];
  for (const { positions: p, normals: n, faces: f, info } of pieces) {
    if (info.role !== 'cloth' || f.length === 0) continue;
    let length = 0;
    const step = 3 * Math.max(1, Math.floor(f.length / 600));
    let number = 0;
    for (let k = 0; k + 1 < f.length; k += step) {
      const [a, b] = [3 * f[k], 3 * f[k + 1]];
      length += Math.hypot(p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]);
      number += 1;
    }
    length /= number;
    for (let k = 0; k < p.length; k += 3) {
      found.push(p[k], p[k + 1], p[k + 2], p[k] + length * n[k], p[k + 1] + length * n[k + 1], p[k + 2] + length * n[k + 2]);
    }
  }
  return new Float32Array(found);
}
