import { el, memory } from '../dom';
import { count } from '../format';
import type { Change, Studio } from '../studio';
import { INKS } from '../charts';
import { roomName } from '../connection';
import { button, section } from '../widgets';

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
  const hint = el('p', { class: 'hint', text: 'Whoever comes in works on the same cloth: hands, pins and settings are shared.' });
  const invite = button({ icon: 'person', text: 'Invite somebody…', class: 'wide', press: () => void ask() });
  const address = el('input', { class: 'text invitation', attrs: { type: 'text', readonly: '', 'aria-label': 'Address for somebody else, works once' } });
  address.hidden = true;
  const ask = async (): Promise<void> => {
    try {
      const answer = await fetch(`/api/invite?room=${encodeURIComponent(roomName())}`, { method: 'POST' });
      if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
      const { path } = (await answer.json()) as { path: string };
      address.value = new URL(path, location.href).href;
      address.hidden = false;
      address.select();
      await navigator.clipboard.writeText(address.value);
      studio.say('info', 'The address is in the clipboard. It lets one browser in, once.');
    } catch (error) {
      // Without a clipboard the address is there to be copied by hand.
      if (address.hidden) studio.say('error', `There is no invitation: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return section('People', true, list, el('div', { class: 'field inline' }, el('label', { text: 'You are' }), field), hint, invite, address);
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
