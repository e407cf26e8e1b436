import { el, memory } from '../dom';
import { count } from '../format';
import type { Change, Studio } from '../studio';
import { INKS } from '../charts';
import { section } from '../widgets';

export function inkOf(person: number): string {
  return INKS[person % INKS.length];
}

export function initials(name: string): string {
  return [...name.trim()].slice(0, 1).join('').toUpperCase() || '?';
}

/** Who is in the room, and how this page is called. */
export function peoplePanel(studio: Studio): HTMLElement {
  const list = el('ul', { class: 'people', attrs: { 'aria-label': 'People in this room' } });
  const field = el('input', { class: 'text', attrs: { type: 'text', maxlength: '40', 'aria-label': 'Your name', placeholder: 'Your name' } });
  field.value = studio.connection.name;
  field.addEventListener('change', () => {
    const name = field.value.trim() || 'Guest';
    field.value = name;
    memory.set('name', name);
    if (name !== studio.connection.name) studio.connection.rename(name);
  });
  studio.room.watch((room) => {
    list.replaceChildren(
      ...(room?.people ?? []).map(([number, name]) => {
        const mark = el('span', { class: 'avatar', text: initials(name), attrs: { 'aria-hidden': 'true' } });
        mark.style.background = inkOf(number);
        return el('li', {}, mark, el('span', { class: 'person-name', text: studio.person(number) }));
      }),
    );
  });
  const hint = el('p', { class: 'hint', text: 'Everybody with this address works on the same cloth: hands, pins and settings are shared.' });
  return section('People', true, list, el('div', { class: 'field inline' }, el('label', { text: 'You are' }), field), hint);
}

/** What was changed, by whom, before which tick; the newest is on top. */
export function changesPanel(studio: Studio): HTMLElement {
  const list = el('ol', { class: 'changes', attrs: { 'aria-label': 'Changes, newest first' } });
  const empty = el('p', { class: 'empty', text: 'Nothing was changed yet.' });
  const entry = ({ tick, by, text }: Change): HTMLElement => {
    const mark = el('span', { class: 'dot', attrs: { 'aria-hidden': 'true' } });
    mark.style.background = inkOf(by);
    return el(
      'li',
      {},
      mark,
      el('div', {}, el('div', { class: 'change-text', text }), el('div', { class: 'quiet-text', text: `${studio.person(by)} · tick ${count(tick)}` })),
    );
  };
  let shown: readonly Change[] = [];
  studio.changes.watch((changes) => {
    empty.hidden = changes.length > 0;
    // Mostly one more at the end: then only that one is made.
    if (changes.length > 0 && changes.length === shown.length + 1 && changes[0] === shown[0]) list.prepend(entry(changes[changes.length - 1]));
    else list.replaceChildren(...[...changes].reverse().map(entry));
    shown = changes;
  });
  return section('Changes', true, empty, list);
}
