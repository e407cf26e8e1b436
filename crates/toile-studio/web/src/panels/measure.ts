import { Chart } from '../charts';
import { el } from '../dom';
import { count, percent, quantity, seconds } from '../format';
import type { Stats } from '../protocol';
import type { Studio } from '../studio';
import { section } from '../widgets';
import { facts } from './explain';

/** Counters by the engine's names that have charts of their own. */
const RESIDUALS = ['residual'];
const MOTIONS = ['wished_motion', 'kept_motion'];
const IMPULSES = ['removed_impulse'];

const words = (name: string): string => name.replaceAll('_', ' ');

/** Rolling charts of the present. */
export function chartsPanel(studio: Studio): HTMLElement {
  const times = new Chart({ title: 'Stage times', unit: 's', stacked: true });
  const energies = new Chart({ title: 'Energies', unit: 'J' });
  const residual = new Chart({ title: 'Residual', unit: 'N', log: true });
  const motion = new Chart({ title: 'Motion wished and kept', unit: 'm' });
  const impulse = new Chart({ title: 'Impulse removed', unit: 'N·s' });
  const charts = [times, energies, residual, motion, impulse];
  const pick = (stats: Stats, names: string[]): [string, number][] =>
    stats.counters.filter(([name]) => names.includes(name)).map(([name, value]) => [words(name), value]);
  let last = -1;
  studio.stats.watch((stats) => {
    if (!stats) {
      for (const chart of charts) chart.clear();
      last = -1;
      return;
    }
    if (stats.tick === last) return;
    last = stats.tick;
    times.push(stats.stages);
    energies.push(stats.energies);
    for (const [chart, names] of [[residual, RESIDUALS], [motion, MOTIONS], [impulse, IMPULSES]] as const) {
      const sample = pick(stats, [...names]);
      chart.node.hidden = sample.length === 0;
      if (sample.length > 0) chart.push(sample);
    }
  });
  return section('Charts', true, ...charts.map(({ node }) => node));
}

/** All figures of the newest frame. */
export function statisticsPanel(studio: Studio): HTMLElement {
  const empty = el('p', { class: 'empty', text: 'Figures come with the first frame: press Space.' });
  const body = el('div', {});
  const node = section('Statistics', false, empty, body);
  const show = (): void => {
    const stats = studio.stats.now;
    empty.hidden = stats !== null;
    if (!stats) body.replaceChildren();
    if (!stats || !node.open) return;
    const rows: [string, string][] = [
      ['Tick', count(stats.tick)],
      ['Simulated time', seconds(stats.time)],
      ['Time per frame', quantity(stats.seconds, 's')],
      ['Largest strain', percent(stats.max_strain)],
      ['Largest speed', quantity(stats.max_speed, 'm/s')],
      ['Intersections', count(stats.certificate.intersections)],
      ['Pinched vertices', count(stats.certificate.pinched)],
    ];
    for (const [name, value] of stats.energies) rows.push([`Energy, ${words(name)}`, quantity(value, 'J')]);
    for (const [name, value, unit] of stats.counters) rows.push([words(name), unit ? quantity(value, unit) : figure(value)]);
    rows.push(['Fingerprint', stats.fingerprint]);
    body.replaceChildren(facts(rows));
  };
  studio.stats.watch(show);
  node.addEventListener('toggle', show);
  return node;
}

function figure(value: number): string {
  return Number.isInteger(value) ? count(value) : quantity(value, '');
}
