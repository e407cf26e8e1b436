import { el } from './dom';
import type { Icon } from './icons';
import { options } from './options';
import type { Dropped } from './protocol';
import type { Studio, Tool } from './studio';
import { button, segments, slider } from './widgets';

interface Look {
  tool: Tool & Icon;
  name: string;
  hint: string;
}

export const TOOLS: Look[] = [
  { tool: 'grab', name: 'Grab', hint: 'Drag the cloth. Several fingers hold several places.' },
  { tool: 'pin', name: 'Pin', hint: 'Click a vertex, or drag a box with Shift held.' },
  { tool: 'unpin', name: 'Unpin', hint: 'Click a pinned vertex, or drag a box with Shift held.' },
  { tool: 'drop', name: 'Drop', hint: 'Click where it falls: 0.3 m above that place.' },
  { tool: 'wind', name: 'Wind', hint: 'Drag an arrow over the view: a gust blows along it.' },
  { tool: 'explain', name: 'Explain', hint: 'Click a vertex: what acts on it, in newtons.' },
];

/** Tools, and what the chosen one can be told. */
export function toolbar(studio: Studio): HTMLElement {
  const buttons = TOOLS.map(({ tool, name, hint }, k) => {
    const one = button({ icon: tool, label: `${name} (${k + 1}): ${hint}`, press: () => studio.tool.set(tool) });
    one.append(el('kbd', { text: String(k + 1), attrs: { 'aria-hidden': 'true' } }));
    return one;
  });
  const bar = el('div', { class: 'tools', attrs: { role: 'toolbar', 'aria-label': 'Tools', 'aria-orientation': 'vertical' } }, ...buttons);
  bar.append(
    el('hr', {}),
    button({ icon: 'frame', label: 'Frame all, or the chosen vertex (F)', press: () => frame(studio) }),
  );
  const name = el('strong', {});
  const hint = el('p', { class: 'hint' });
  const drop = dropOptions();
  const gust = gustOptions();
  const card = el('div', { class: 'tool-card' }, name, hint, drop, gust);
  studio.tool.watch((now) => {
    TOOLS.forEach((look, k) => buttons[k].setAttribute('aria-pressed', String(look.tool === now)));
    const look = TOOLS.find(({ tool }) => tool === now);
    name.textContent = look?.name ?? '';
    hint.textContent = look?.hint ?? '';
    drop.hidden = now !== 'drop';
    gust.hidden = now !== 'wind';
    studio.viewport.canvas.dataset.tool = now;
  });
  return el('div', { class: 'toolbar' }, bar, card);
}

/** What to do first, until it is done. */
export function beginning(studio: Studio): HTMLElement {
  const node = el('div', { class: 'beginning', attrs: { 'aria-hidden': 'true' } }, el('kbd', { text: 'Space' }), el('span', { text: 'lets time run' }));
  const show = (): void => {
    node.hidden = !studio.scene.now || studio.present > 0 || (studio.room.now?.playing ?? true);
  };
  studio.scene.watch(show);
  studio.room.watch(show);
  studio.head.watch(show);
  return node;
}

export function frame(studio: Studio): void {
  const chosen = studio.chosen.now;
  const place = chosen && studio.viewport.vertex(chosen.object, chosen.vertex);
  if (place) studio.viewport.rig.visit(place, 0.4 * studio.viewport.rig.distance);
  else studio.viewport.frameAll();
}

function dropOptions(): HTMLElement {
  const change = (next: Partial<{ form: Dropped; size: number; mass: number }>): void =>
    options.drop.set({ ...options.drop.now, ...next });
  const form = segments<Dropped>(
    'What is dropped',
    [
      { value: 'ball', text: 'Ball' },
      { value: 'cube', text: 'Cube' },
    ],
    (value) => change({ form: value }),
  );
  const size = slider({ label: 'Size', unit: 'cm', factor: 100, min: 2, max: 50, log: true, change: (value) => change({ size: value }) });
  const mass = slider({ label: 'Mass', unit: 'g', factor: 1000, min: 1, max: 5000, log: true, change: (value) => change({ mass: value }) });
  options.drop.watch((now) => {
    form.set(now.form);
    size.set(now.size);
    mass.set(now.mass);
  });
  return el('div', { class: 'stack' }, form.node, size.node, mass.node);
}

function gustOptions(): HTMLElement {
  const time = slider({ label: 'Lasts', unit: 's', min: 0.1, max: 5, change: (seconds) => options.gust.set({ seconds }) });
  options.gust.watch(({ seconds }) => time.set(seconds));
  return el('div', { class: 'stack' }, time.node);
}
