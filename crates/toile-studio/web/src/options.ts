import type { Dropped } from './protocol';
import { Value } from './value';

/** How tools work; kept while the page is open. */
export const options = {
  drop: new Value<{ form: Dropped; size: number; mass: number }>({ form: 'ball', size: 0.12, mass: 0.05 }),
  gust: new Value<{ seconds: number }>({ seconds: 0.6 }),
};

/** How far above the place that was hit a thing is dropped [m]. */
export const DROP_HEIGHT = 0.3;
