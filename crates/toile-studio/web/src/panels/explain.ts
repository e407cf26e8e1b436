import { Vector3 } from 'three';
import { el } from '../dom';
import { count, digits, percent, quantity } from '../format';
import type { Explanation } from '../protocol';
import type { Studio } from '../studio';
import type { Vector } from '../vector';
import { button, section } from '../widgets';

/** One colour for each source of force, the same in bars and arrows. */
const COLOURS: Record<string, string> = {
  stretch: '#4f8cff',
  shear: '#22b8cf',
  bend: '#9775fa',
  contact: '#ff922b',
  friction: '#e8590c',
  filter: '#f06595',
  gravity: '#94a3b8',
  drag: '#51cf66',
  wind: '#51cf66',
  pin: '#ff5c7a',
  hand: '#fcc419',
};

const colourOf = (source: string): string => COLOURS[source] ?? '#a3a3a3';
const size = (v: Vector): number => Math.hypot(...v);

/** What acts on a vertex: words, bars and arrows. */
export function explainPanel(studio: Studio): HTMLDetailsElement {
  const empty = el('p', { class: 'empty', text: 'Take the Explain tool (6) and click on cloth: its forces in newtons, and what holds it.' });
  const filled = el('div', { class: 'stack' });
  const node = section('Explain', true, empty, filled);
  studio.explanation.watch((explanation) => {
    empty.hidden = explanation !== null;
    filled.hidden = explanation === null;
    if (explanation) filled.replaceChildren(...describe(studio, explanation));
    arrows(studio, explanation);
  });
  return node;
}

function describe(studio: Studio, said: Explanation): HTMLElement[] {
  const name = studio.scene.now?.objects.find(({ id }) => id === said.object)?.name ?? `object ${said.object}`;
  const head = el(
    'div',
    { class: 'explain-head' },
    el('span', {}, el('strong', { text: name }), ` vertex ${said.vertex}`),
    button({ icon: 'remove', label: 'Ask about no vertex', class: 'quiet small', press: () => studio.chosen.set(null) }),
  );
  const forces = said.forces.filter(([, force]) => size(force) > 0).sort((a, b) => size(b[1]) - size(a[1]));
  const largest = Math.max(...forces.map(([, force]) => size(force)), 1e-300);
  const bars = el('div', { class: 'bars', attrs: { role: 'list', 'aria-label': 'Forces by source' } });
  for (const [source, force] of forces) bars.append(bar(source, force, largest));
  const sum = said.forces.reduce<Vector>((total, [, force]) => [total[0] + force[0], total[1] + force[1], total[2] + force[2]], [0, 0, 0]);
  const table = facts([
    ['Sum of forces', components(sum, 'N')],
    ['Mass × acceleration', components(said.inertia, 'N')],
    ['Residual', quantity(size(said.residual), 'N')],
    ['Mass', quantity(1000 * said.mass, 'g')],
    ['Speed', quantity(size(said.velocity), 'm/s')],
    ['Principal strains', `${percent(said.strain[0])}, ${percent(said.strain[1])}`],
    ['Tension, warp', quantity(said.stress[0], 'N/m')],
    ['Tension, weft', quantity(said.stress[1], 'N/m')],
    ['Shear tension', quantity(said.stress[2], 'N/m')],
    ['Place', `${said.place.map((x) => digits(x, 3)).join(', ')} m`],
    ['Tick', count(said.tick)],
  ]);
  return [head, el('p', { class: 'sentence', text: said.sentence }), bars, table];
}

function bar(source: string, force: Vector, largest: number): HTMLElement {
  const fill = el('span', { class: 'bar-fill' });
  fill.style.width = `${(100 * size(force)) / largest}%`;
  fill.style.background = colourOf(source);
  return el(
    'div',
    { class: 'bar', title: components(force, 'N'), attrs: { role: 'listitem' } },
    el('span', { class: 'bar-name', text: source }),
    el('span', { class: 'bar-track' }, fill),
    el('span', { class: 'bar-value', text: quantity(size(force), 'N') }),
  );
}

/** Components share a prefix, so that they can be compared. */
function components(v: Vector, unit: string): string {
  const most = Math.max(...v.map(Math.abs));
  if (most === 0) return `0 ${unit}`;
  const [factor, prefix] = most >= 1 ? [1, ''] : most >= 1e-3 ? [1e3, 'm'] : most >= 1e-6 ? [1e6, 'µ'] : [1e9, 'n'];
  return `${v.map((x) => (x * factor).toFixed(Math.max(0, 2 - Math.floor(Math.log10(most * factor)))).replace('-', '−')).join(', ')} ${prefix}${unit}`;
}

export function facts(rows: readonly [string, string][]): HTMLElement {
  const table = el('table', { class: 'facts' });
  for (const [name, value] of rows) {
    table.append(el('tr', {}, el('th', { text: name, attrs: { scope: 'row' } }), el('td', { text: value })));
  }
  return table;
}

function arrows(studio: Studio, said: Explanation | null): void {
  const { viewport } = studio;
  const forces = (said?.forces ?? []).map(([source, force]) => ({ colour: colourOf(source), force: new Vector3(...force) }));
  viewport.markers.forces(said ? new Vector3(...said.place) : null, forces, 0.16 * viewport.rig.distance);
  viewport.invalidate();
}
