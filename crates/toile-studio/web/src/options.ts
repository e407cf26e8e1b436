import type { Dropped, Kept } from './protocol';
import { Value } from './value';

/** How tools work; kept while the page is open. */
export const options = {
  drop: new Value<{ form: Dropped; size: number; mass: number }>({ form: 'ball', size: 0.12, mass: 0.05 }),
  cut: new Value<{ how: 'line' | 'edges' }>({ how: 'line' }),
  /** Of all brushes: how far they reach [m], and the part of that within which they work fully. */
  brush: new Value<{ radius: number; hardness: number }>({ radius: 0.12, hardness: 0.5 }),
  size: new Value<{ way: 'expand' | 'shrink'; strength: number; keep: Kept }>({ way: 'expand', strength: 1.3, keep: 'mass' }),
  erase: new Value<{ how: 'brush' | 'piece' }>({ how: 'brush' }),
  gust: new Value<{ seconds: number }>({ seconds: 0.6 }),
};

/** How far above the place that was hit a thing is dropped [m]. */
export const DROP_HEIGHT = 0.3;
