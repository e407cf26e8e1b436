import { el } from './dom';
import type { Studio } from './studio';
import { button } from './widgets';

const STAY = { info: 4500, warning: 8000, error: 12_000 };
const MOST = 4;

/** What is said to the person, and read out by screen readers. */
export function notes(studio: Studio): HTMLElement {
  const node = el('div', { class: 'notes', attrs: { role: 'log', 'aria-live': 'polite', 'aria-label': 'Messages' } });
  studio.note.watch((note) => {
    if (!note) return;
    const last = node.lastElementChild as HTMLElement | null;
    // The same words again are the same note.
    if (last?.dataset.text === note.text) last.remove();
    const text = note.text.charAt(0).toUpperCase() + note.text.slice(1);
    const one = el('div', { class: `note ${note.level}`, attrs: { role: note.level === 'error' ? 'alert' : 'note' } }, el('span', { text }));
    one.dataset.text = note.text;
    one.append(button({ icon: 'remove', label: 'Dismiss', class: 'quiet small', press: () => one.remove() }));
    node.append(one);
    while (node.childElementCount > MOST) node.firstElementChild?.remove();
    setTimeout(() => one.remove(), STAY[note.level]);
  });
  return node;
}
