/** Keys and frames as `wire.rs` lays them out. Arrays are views of the message: copy what must live longer. */

export interface KeyObject {
  positions: Float32Array;
  uv: Float32Array | null;
  faces: Uint32Array;
  /** What refinement did to each face: 0 nothing, 1 split, 2 split and put back. */
  marks: Uint8Array | null;
}

export interface Key {
  kind: 'key';
  revision: number;
  objects: KeyObject[];
}

export interface MovedObject {
  index: number;
  positions: Float32Array;
  scalar: Float32Array | null;
}

export interface Frame {
  kind: 'frame';
  serial: number;
  revision: number;
  tick: number;
  time: number;
  recorded: boolean;
  objects: MovedObject[];
  /** Six numbers a pair: its two nearest points. */
  contacts: Float32Array | null;
}

const HAS_UV = 1;
const HAS_MARKS = 2;
const U16 = 1;
const RECORDED = 2;
const SCALAR = 4;
const CONTACTS = 8;

class Reader {
  at = 0;
  readonly #view: DataView;
  readonly #buffer: ArrayBuffer;

  constructor(buffer: ArrayBuffer) {
    this.#buffer = buffer;
    this.#view = new DataView(buffer);
  }

  byte(): number {
    return this.#view.getUint8(this.at++);
  }

  word(): number {
    const value = this.#view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  double(): number {
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  floats(number: number): Float32Array {
    const values = new Float32Array(this.#buffer, this.at, number);
    this.at += 4 * number;
    return values;
  }

  words(number: number): Uint32Array {
    const values = new Uint32Array(this.#buffer, this.at, number);
    this.at += 4 * number;
    return values;
  }

  /** Bytes, padded to a multiple of four. */
  bytes(number: number): Uint8Array {
    const values = new Uint8Array(this.#buffer, this.at, number);
    this.at += 4 * Math.ceil(number / 4);
    return values;
  }

  /** Sixteen-bit parts of a box, padded to a multiple of four bytes. */
  parts(vertices: number): Float32Array {
    const box = this.floats(6);
    const parts = new Uint16Array(this.#buffer, this.at, 3 * vertices);
    this.at += 6 * vertices + (vertices % 2 === 1 ? 2 : 0);
    const values = new Float32Array(3 * vertices);
    for (let axis = 0; axis < 3; axis += 1) {
      const low = box[axis];
      const size = (box[axis + 3] - low) / 65535;
      for (let k = axis; k < values.length; k += 3) values[k] = low + size * parts[k];
    }
    return values;
  }
}

/** What a binary message holds; throws if it is not what its head says. */
export function decode(buffer: ArrayBuffer): Key | Frame {
  const reader = new Reader(buffer);
  const kind = reader.byte();
  const version = reader.byte();
  reader.at = 4;
  if (version !== 1) throw new RangeError(`geometry of version ${version}`);
  if (kind === 1) return key(reader);
  if (kind === 2) return frame(reader);
  throw new RangeError(`geometry of kind ${kind}`);
}

function key(reader: Reader): Key {
  const revision = reader.word();
  const number = reader.word();
  const objects: KeyObject[] = [];
  for (let n = 0; n < number; n += 1) {
    const vertices = reader.word();
    const faces = reader.word();
    const flags = reader.word();
    const positions = reader.floats(3 * vertices);
    const uv = flags & HAS_UV ? reader.floats(2 * vertices) : null;
    const corners = reader.words(3 * faces);
    if (corners.some((corner) => corner >= vertices)) throw new RangeError(`a face of object ${n} has no such vertex`);
    const marks = flags & HAS_MARKS ? reader.bytes(faces) : null;
    objects.push({ positions, uv, faces: corners, marks });
  }
  return { kind: 'key', revision, objects };
}

function frame(reader: Reader): Frame {
  const serial = reader.word();
  const revision = reader.word();
  const tick = reader.word() + 2 ** 32 * reader.word();
  const flags = reader.word();
  const time = reader.double();
  const number = reader.word();
  const objects: MovedObject[] = [];
  for (let n = 0; n < number; n += 1) {
    const index = reader.word();
    const vertices = reader.word();
    const positions = flags & U16 ? reader.parts(vertices) : reader.floats(3 * vertices);
    const scalar = flags & SCALAR ? reader.floats(vertices) : null;
    objects.push({ index, positions, scalar });
  }
  const contacts = flags & CONTACTS ? reader.floats(6 * reader.word()) : null;
  return { kind: 'frame', serial, revision, tick, time, recorded: (flags & RECORDED) !== 0, objects, contacts };
}
