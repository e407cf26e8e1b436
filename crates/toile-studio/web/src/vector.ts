/** A place, direction or velocity, Y up, in SI units. */
export type Vector = [number, number, number];
