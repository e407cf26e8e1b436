import { el } from '../dom';
import { count } from '../format';
import type { ObjectInfo } from '../protocol';
import type { Studio } from '../studio';
import { button, section } from '../widgets';

/** Objects of the scene: choose, look at, remove; borders to pin. */
export function objectsPanel(studio: Studio, importMesh: () => void): HTMLElement {
  const list = el('ul', { class: 'objects', attrs: { 'aria-label': 'Objects' } });
  const borders = el('div', { class: 'borders' });
  const add = button({ icon: 'upload', text: 'Import OBJ…', class: 'wide', press: importMesh });

  const row = (object: ObjectInfo): HTMLElement => {
    const swatch = el('span', { class: 'swatch', attrs: { 'aria-hidden': 'true' } });
    // Style properties refuse what is no colour.
    swatch.style.background = `linear-gradient(135deg, ${hex(object.colours[0])} 50%, ${hex(object.colours[1])} 50%)`;
    const kind = object.role === 'body' ? 'body' : object.guest ? 'guest' : 'cloth';
    const choose = el(
      'button',
      {
        class: 'object',
        attrs: { type: 'button', 'aria-pressed': String(studio.object.now === object.id) },
        on: { click: () => studio.object.set(object.id), dblclick: () => studio.viewport.rig.frame(studio.viewport.bounds(object.id)) },
      },
      swatch,
      el('span', { class: 'object-name', text: object.name }),
      el('span', { class: 'quiet-text', text: `${kind} · ${count(object.vertices)} vertices` }),
    );
    const item = el('li', {}, choose);
    if (object.guest) {
      const press = (): void => void studio.edit({ do: 'remove', object: object.id });
      item.append(button({ icon: 'remove', label: `Remove ${object.name}`, class: 'quiet small', press }));
    }
    return item;
  };

  const show = (): void => {
    const objects = studio.scene.now?.objects ?? [];
    list.replaceChildren(...objects.map(row));
    const object = objects.find(({ id }) => id === studio.object.now);
    borders.replaceChildren();
    if (!object || object.groups.length === 0) return;
    const pinned = new Set(studio.panels.now?.pinned.find(([id]) => id === object.id)?.[1] ?? []);
    borders.append(el('div', { class: 'caption', text: `Borders of ${object.name}` }));
    const chips = el('div', { class: 'chips' });
    for (const group of object.groups) {
      const held = group.vertices.length > 0 && group.vertices.every((vertex) => pinned.has(vertex));
      const change = held ? 'unpin' : 'pin';
      const chip = button({
        icon: 'pin',
        text: group.name,
        label: `${held ? 'Unpin' : 'Pin'} border ${group.name}, ${count(group.vertices.length)} vertices`,
        class: 'chip',
        press: () => void studio.edit({ do: change, object: object.id, vertices: group.vertices }),
      });
      chip.setAttribute('aria-pressed', String(held));
      chips.append(chip);
    }
    borders.append(chips);
  };
  studio.scene.watch(show);
  studio.object.watch(show);
  studio.panels.watch(show);
  return section('Objects', true, list, borders, add);
}

function hex(text: string): string {
  return /^#[0-9a-f]{6}$/i.test(text) ? text : '#9aa0a6';
}
