import type { Vector3 } from 'three';
import type { Viewport } from './viewport';

const SVG = 'http://www.w3.org/2000/svg';

type Mark = 'faces' | 'ring' | 'border' | 'first' | 'pairs' | 'misfits' | 'cut';

/** Marks on the cloth while a job is prepared, drawn over the view: lines of a width that can be seen. */
export class Chalk {
  readonly node = document.createElementNS(SVG, 'svg');
  readonly #view: Viewport;
  readonly #paths: Record<Mark, SVGPathElement>;

  constructor(view: Viewport) {
    this.#view = view;
    this.node.classList.add('chalk');
    this.node.setAttribute('aria-hidden', 'true');
    const path = (mark: Mark): SVGPathElement => {
      const one = document.createElementNS(SVG, 'path');
      one.classList.add(`chalk-${mark}`);
      this.node.append(one);
      return one;
    };
    this.#paths = { faces: path('faces'), ring: path('ring'), border: path('border'), first: path('first'), pairs: path('pairs'), misfits: path('misfits'), cut: path('cut') };
  }

  clear(): void {
    for (const path of Object.values(this.#paths)) path.removeAttribute('d');
  }

  /** Draws lines through places, each on its own; what is behind the camera is left out. */
  draw(mark: Mark, lines: readonly (readonly Vector3[])[], closed = false): void {
    const { left, top } = this.#view.canvas.getBoundingClientRect();
    const words: string[] = [];
    for (const line of lines) {
      const points = line.map((place) => this.#view.project(place));
      if (points.length < 2 || points.some(([, , behind]) => behind)) continue;
      points.forEach(([x, y], k) => words.push(`${k > 0 ? 'L' : 'M'}${(x - left).toFixed(1)} ${(y - top).toFixed(1)}`));
      if (closed) words.push('Z');
    }
    if (words.length > 0) this.#paths[mark].setAttribute('d', words.join(''));
    else this.#paths[mark].removeAttribute('d');
  }
}
