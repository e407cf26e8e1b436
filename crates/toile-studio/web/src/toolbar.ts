import { el } from './dom';
import type { Icon } from './icons';
import { options } from './options';
import type { Dropped } from './protocol';
import type { Studio, Tool } from './studio';
import { button, segments, slider, toggle } from './widgets';

interface Look {
  tool: Tool & Icon;
  name: string;
  key: string;
  hint: string;
}

export const TOOLS: Look[] = [
  { tool: 'grab', name: 'Grab', key: '1', hint: 'Drag the cloth. Several fingers hold several places.' },
  { tool: 'pin', name: 'Pin', key: '2', hint: 'Click a vertex, or drag a box with Shift held.' },
  { tool: 'unpin', name: 'Unpin', key: '3', hint: 'Click a pinned vertex, or drag a box with Shift held.' },
  { tool: 'drop', name: 'Drop', key: '4', hint: 'Click where it falls: 0.3 m above that place.' },
  { tool: 'wind', name: 'Wind', key: '5', hint: 'Drag an arrow over the view: a gust blows along it.' },
  { tool: 'explain', name: 'Explain', key: '6', hint: 'Click a vertex: what acts on it, in newtons.' },
  { tool: 'cut', name: 'Cut', key: 'C', hint: 'Draw a line over the cloth: from border to border it comes apart, inside it is a slit.' },
  { tool: 'size', name: 'Size', key: 'B', hint: 'Click or brush over the cloth: it grows or shrinks under the circle. Wheel or [ ] for the radius.' },
  { tool: 'erase', name: 'Remove', key: 'X', hint: 'Brush over what is to go, or click a piece that was cut off.' },
  { tool: 'seam', name: 'Sew', key: 'S', hint: 'Click a border, then the one to sew it to: threads draw them together until they are one.' },
  { tool: 'fill', name: 'Fill', key: 'L', hint: 'Click the border of a hole: new cloth spans it.' },
];

/** Tools, and what the chosen one can be told. */
export function toolbar(studio: Studio): HTMLElement {
  const buttons = TOOLS.map(({ tool, name, key, hint }) => {
    const one = button({ icon: tool, label: `${name} (${key}): ${hint}`, press: () => studio.tool.set(tool) });
    one.append(el('kbd', { text: key, attrs: { 'aria-hidden': 'true' } }));
    one.setAttribute('aria-keyshortcuts', key);
    return one;
  });
  const all = button({ icon: 'frame', label: 'Frame all, or the chosen vertex (F)', press: () => frame(studio) });
  const bar = el('div', { class: 'tools', attrs: { role: 'toolbar', 'aria-label': 'Tools', 'aria-orientation': 'vertical' } }, ...buttons, all);
  const name = el('strong', {});
  const hint = el('p', { class: 'hint' });
  const cards = new Map<Tool, HTMLElement>([
    ['drop', dropOptions()],
    ['wind', gustOptions()],
    ['cut', cutOptions()],
    ['size', sizeOptions()],
    ['erase', eraseOptions()],
  ]);
  const card = el('div', { class: 'tool-card' }, name, hint, ...cards.values());
  studio.tool.watch((now) => {
    TOOLS.forEach((look, k) => buttons[k].setAttribute('aria-pressed', String(look.tool === now)));
    const look = TOOLS.find(({ tool }) => tool === now);
    name.textContent = look?.name ?? '';
    hint.textContent = look?.hint ?? '';
    for (const [tool, one] of cards) one.hidden = tool !== now;
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

function cutOptions(): HTMLElement {
  const how = segments<'line' | 'edges'>(
    'How it is cut',
    [
      { value: 'line', text: 'As drawn' },
      { value: 'edges', text: 'Along edges' },
    ],
    (value) => options.cut.set({ how: value }),
  );
  options.cut.watch((now) => how.set(now.how));
  return el('div', { class: 'stack' }, how.node);
}

function radiusSlider(): HTMLElement {
  const change = (radius: number): void => options.brush.set({ ...options.brush.now, radius });
  const radius = slider({ label: 'Radius', unit: 'cm', factor: 100, min: 0.5, max: 200, log: true, change });
  options.brush.watch((now) => radius.set(now.radius));
  return radius.node;
}

function sizeOptions(): HTMLElement {
  const change = (next: Partial<typeof options.size.now>): void => options.size.set({ ...options.size.now, ...next });
  const way = segments<'expand' | 'shrink'>(
    'Which way',
    [
      { value: 'expand', text: 'Expand' },
      { value: 'shrink', text: 'Shrink' },
    ],
    (value) => change({ way: value }),
  );
  const strength = slider({ label: 'Strength', unit: '×', min: 1.02, max: 2, change: (value) => change({ strength: value }), hint: 'How much longer or shorter cloth becomes at once' });
  const hard = slider({ label: 'Hardness', unit: '%', factor: 100, min: 0, max: 100, change: (hardness) => options.brush.set({ ...options.brush.now, hardness }), hint: 'Part of the circle within which it works fully' });
  const keep = toggle('Keep the mass', (on) => change({ keep: on ? 'mass' : 'density' }), 'Larger cloth becomes thinner instead of heavier');
  options.brush.watch((now) => hard.set(now.hardness));
  options.size.watch((now) => {
    way.set(now.way);
    strength.set(now.strength);
    keep.set(now.keep === 'mass');
  });
  return el('div', { class: 'stack' }, way.node, radiusSlider(), strength.node, hard.node, keep.node);
}

function eraseOptions(): HTMLElement {
  const how = segments<'brush' | 'piece'>(
    'What is removed',
    [
      { value: 'brush', text: 'Brush' },
      { value: 'piece', text: 'Whole piece' },
    ],
    (value) => options.erase.set({ how: value }),
  );
  const radius = radiusSlider();
  options.erase.watch((now) => {
    how.set(now.how);
    radius.hidden = now.how === 'piece';
  });
  return el('div', { class: 'stack' }, how.node, radius);
}
