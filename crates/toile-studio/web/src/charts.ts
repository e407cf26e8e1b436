import { el } from './dom';
import { ceiling, quantity } from './format';

/** Colours of lines, told apart on dark and light. */
export const INKS = ['#4f8cff', '#ff922b', '#37b679', '#e64980', '#9775fa', '#22b8cf', '#c9a227', '#f06c4f', '#8a94a6', '#a5d840'];

export interface ChartLook {
  title: string;
  unit: string;
  /** Areas on top of each other, or lines. */
  stacked?: boolean;
  /** Powers of ten. */
  log?: boolean;
}

const LENGTH = 240;
const HEIGHT = 112;

/** A small rolling chart: the newest sample is on the right. */
export class Chart {
  readonly node: HTMLElement;
  readonly #look: ChartLook;
  readonly #canvas = el('canvas', { class: 'chart' });
  readonly #keys = el('div', { class: 'chart-keys' });
  readonly #now = el('span', { class: 'quiet-text' });
  readonly #series = new Map<string, { values: number[]; ink: string; key: HTMLElement }>();
  #top = 0;
  #asked = false;

  constructor(look: ChartLook) {
    this.#look = look;
    this.#canvas.setAttribute('role', 'img');
    this.node = el(
      'figure',
      { class: 'chart-box' },
      el('figcaption', {}, el('span', { text: look.title }), this.#now),
      this.#canvas,
      this.#keys,
    );
    new ResizeObserver(() => this.#later()).observe(this.#canvas);
    new MutationObserver(() => this.#later()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }

  clear(): void {
    this.#series.clear();
    this.#keys.replaceChildren();
    this.#top = 0;
    this.#later();
  }

  push(sample: readonly (readonly [string, number])[]): void {
    const length = Math.max(0, ...[...this.#series.values()].map(({ values }) => values.length));
    for (const [name] of sample) {
      if (this.#series.has(name)) continue;
      const ink = INKS[this.#series.size % INKS.length];
      const dot = el('i', {});
      dot.style.background = ink;
      const key = el('span', {}, dot, name);
      this.#keys.append(key);
      this.#series.set(name, { values: new Array<number>(length).fill(NaN), ink, key });
    }
    for (const [name, { values, key }] of this.#series) {
      const value = sample.find(([one]) => one === name)?.[1] ?? NaN;
      values.push(value);
      if (values.length > LENGTH) values.shift();
      key.title = quantity(value, this.#look.unit);
    }
    const last = sample.map(([, value]) => value);
    const shown = this.#look.stacked ? last.reduce((a, b) => a + b, 0) : Math.max(...last);
    this.#now.textContent = quantity(shown, this.#look.unit);
    const words = sample.map(([name, value]) => `${name} ${quantity(value, this.#look.unit)}`).join(', ');
    this.#canvas.setAttribute('aria-label', `${this.#look.title}: ${words}`);
    this.#later();
  }

  /** Charts in folded sections and hidden tabs cost nothing. */
  #later(): void {
    if (this.#asked || this.#canvas.clientWidth === 0) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#draw();
    });
  }

  #draw(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const width = this.#canvas.clientWidth;
    if (width === 0) return;
    this.#canvas.width = width * ratio;
    this.#canvas.height = HEIGHT * ratio;
    const pen = this.#canvas.getContext('2d');
    if (!pen) return;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const [line, quiet] = ['--line', '--quiet'].map((name) => style.getPropertyValue(name).trim());
    const all = [...this.#series.values()];
    const [low, high] = this.#ends(all.map(({ values }) => values));
    const left = 2;
    const bottom = HEIGHT - 4;
    const top = 14;
    const y = (value: number): number => {
      const part = this.#look.log
        ? (Math.log10(Math.max(value, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))
        : (value - low) / (high - low);
      return bottom - (bottom - top) * Math.min(1, Math.max(0, part));
    };
    const x = (k: number, length: number): number => width - 2 - ((length - 1 - k) * (width - 4)) / (LENGTH - 1);
    pen.font = '10px "Liberation Sans", Arial, sans-serif';
    pen.fillStyle = quiet;
    pen.strokeStyle = line;
    pen.lineWidth = 1;
    for (const value of [low, this.#look.log ? Math.sqrt(low * high) : (low + high) / 2, high]) {
      const at = Math.round(y(value)) + 0.5;
      pen.beginPath();
      pen.moveTo(0, at);
      pen.lineTo(width, at);
      pen.stroke();
      if (value !== low || this.#look.log) pen.fillText(quantity(value, this.#look.unit, 2), left, at - 3);
    }
    if (this.#look.stacked) this.#areas(pen, all, x, y);
    else this.#lines(pen, all, x, y);
  }

  #lines(pen: CanvasRenderingContext2D, all: { values: number[]; ink: string }[], x: (k: number, n: number) => number, y: (v: number) => number): void {
    pen.lineWidth = 1.5;
    pen.lineJoin = 'round';
    for (const { values, ink } of all) {
      pen.strokeStyle = ink;
      pen.beginPath();
      let down = false;
      values.forEach((value, k) => {
        if (Number.isNaN(value)) down = false;
        else if (down) pen.lineTo(x(k, values.length), y(value));
        else {
          pen.moveTo(x(k, values.length), y(value));
          down = true;
        }
      });
      pen.stroke();
    }
  }

  #areas(pen: CanvasRenderingContext2D, all: { values: number[]; ink: string }[], x: (k: number, n: number) => number, y: (v: number) => number): void {
    const length = all[0]?.values.length ?? 0;
    const base = new Array<number>(length).fill(0);
    for (const { values, ink } of all) {
      pen.beginPath();
      base.forEach((value, k) => pen.lineTo(x(k, length), y(value)));
      for (let k = length - 1; k >= 0; k -= 1) {
        base[k] += values[k] || 0;
        pen.lineTo(x(k, length), y(base[k]));
      }
      pen.fillStyle = ink;
      pen.globalAlpha = 0.85;
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  #ends(lists: number[][]): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    const length = lists[0]?.length ?? 0;
    for (let k = 0; k < length; k += 1) {
      let sum = 0;
      for (const values of lists) {
        const value = values[k];
        if (Number.isNaN(value)) continue;
        sum += value;
        if (value > high) high = value;
        if (value < low && (!this.#look.log || value > 0)) low = value;
      }
      if (this.#look.stacked && sum > high) high = sum;
    }
    if (!Number.isFinite(high)) return this.#look.log ? [1e-6, 1] : [0, 1];
    if (this.#look.log) {
      const upper = 10 ** Math.ceil(Math.log10(Math.max(high, 1e-12)));
      const lower = 10 ** Math.floor(Math.log10(Number.isFinite(low) ? Math.max(low, 1e-14) : upper / 100));
      return [Math.min(lower, upper / 10), upper];
    }
    // The axis grows at once and shrinks late, so that it does not breathe.
    const upper = ceiling(high);
    if (upper > this.#top || upper < 0.4 * this.#top) this.#top = upper;
    return [low < 0 ? -ceiling(-low) : 0, high <= 0 ? 0.1 : this.#top];
  }
}
