import { el } from '../dom';
import { digits } from '../format';
import type { Studio } from '../studio';
import { MARKS, SCALE } from '../view/material';
import type { Colouring, Shown } from '../view/overlays';
import { choice, section, segments, toggle } from '../widgets';

const SWITCHES: [Exclude<keyof Shown, 'scalar' | 'exaggeration'>, string, string][] = [
  ['pins', 'Pins', 'Vertices that are held'],
  ['contacts', 'Contact pairs', 'Points where surfaces touch'],
  ['wireframe', 'Wireframe', 'Edges of all faces'],
  ['normals', 'Normals', 'Which side is the front'],
  ['thickness', 'Thickness', 'Both surfaces of the cloth'],
  ['grid', 'Grid', 'The ground, or a plane to see directions by'],
];

/** What is drawn besides the surfaces. */
export function overlaysPanel(studio: Studio): HTMLElement {
  const change = (next: Partial<Shown>): void => studio.shown.set({ ...studio.shown.now, ...next });
  const scalar = segments<Colouring>(
    'Colour',
    [
      { value: 'none', text: 'Fabric' },
      { value: 'strain', text: 'Strain' },
      { value: 'speed', text: 'Speed' },
      { value: 'marks', text: 'Splits' },
    ],
    (value) => change({ scalar: value }),
  );
  const switches = SWITCHES.map(([key, label, hint]) => ({ key, ...toggle(label, (on) => change({ [key]: on }), hint) }));
  const times = choice('Drawn thicker', (value) => change({ exaggeration: Number(value) }));
  times.fill(['1', '10', '50'].map((value) => ({ value, text: `${value} ×` })));
  studio.shown.watch((shown) => {
    scalar.set(shown.scalar);
    for (const { key, set } of switches) set(shown[key]);
    times.set(String(shown.exaggeration));
    times.node.hidden = !shown.thickness;
  });
  return section('Overlays', true, el('div', { class: 'caption', text: 'Colour by' }), scalar.node, ...switches.map(({ node }) => node), times.node);
}

/** The colour scale, over the view. */
export function legend(studio: Studio): HTMLElement {
  const name = el('span');
  const largest = el('span', { class: 'quiet-text' });
  const bar = el('div', { class: 'legend-bar' });
  const ends = [0, 1, 2].map(() => el('span'));
  const node = el(
    'div',
    { class: 'legend', attrs: { role: 'img' } },
    el('div', { class: 'legend-head' }, name, largest),
    bar,
    el('div', { class: 'legend-ends' }, ...ends),
  );
  studio.viewport.overlays.range.watch(({ scalar, high, largest: top }) => {
    node.hidden = scalar === 'none';
    if (scalar === 'none') return;
    const bands = MARKS.flatMap(([, text], k) => [`${text} ${(100 * k) / MARKS.length}%`, `${text} ${(100 * (k + 1)) / MARKS.length}%`]);
    bar.style.background = `linear-gradient(90deg, ${(scalar === 'marks' ? bands : SCALE).join(', ')})`;
    if (scalar === 'marks') {
      name.textContent = 'What refinement did';
      largest.textContent = '';
      ends.forEach((end, k) => (end.textContent = MARKS[k][0]));
      node.setAttribute('aria-label', `${name.textContent}: ${MARKS.map(([text]) => text).join(', ')}`);
      return;
    }
    const [factor, unit] = scalar === 'strain' ? [100, '%'] : [1, 'm/s'];
    name.textContent = scalar === 'strain' ? 'Largest principal strain' : 'Speed';
    largest.textContent = `now up to ${digits(factor * top, 3)} ${unit}`;
    ends.forEach((end, k) => (end.textContent = `${digits((factor * high * k) / 2, 2)}${k === 2 ? ` ${unit}` : ''}`));
    node.setAttribute('aria-label', `${name.textContent}: colours from 0 to ${digits(factor * high, 2)} ${unit}`);
  });
  return node;
}
