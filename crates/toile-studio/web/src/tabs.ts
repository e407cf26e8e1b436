import { el, memory, unique } from './dom';

export interface Tab {
  name: string;
  panels: HTMLElement[];
}

/** The side panel: a few tabs of folding sections. */
export function tabs(all: readonly Tab[]): { node: HTMLElement; show: (name: string) => void } {
  const heads: HTMLButtonElement[] = [];
  const bodies: HTMLElement[] = [];
  const show = (name: string): void => {
    memory.set('tab', name);
    all.forEach((tab, k) => {
      const on = tab.name === name;
      heads[k].setAttribute('aria-selected', String(on));
      heads[k].tabIndex = on ? 0 : -1;
      bodies[k].hidden = !on;
    });
  };
  for (const tab of all) {
    const id = unique('tab');
    const head = el('button', { text: tab.name, id, attrs: { type: 'button', role: 'tab', 'aria-controls': `${id}-body` }, on: { click: () => show(tab.name) } });
    heads.push(head);
    bodies.push(el('div', { class: 'tab-body', id: `${id}-body`, attrs: { role: 'tabpanel', 'aria-labelledby': id } }, ...tab.panels));
  }
  const bar = el('div', { class: 'tabs', attrs: { role: 'tablist', 'aria-label': 'Panels' } }, ...heads);
  bar.addEventListener('keydown', (event) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = heads.indexOf(document.activeElement as HTMLButtonElement);
    const next = heads[(at + by + heads.length) % heads.length];
    next.focus();
    next.click();
  });
  const kept = memory.get('tab');
  const node = el('aside', { class: 'side', attrs: { 'aria-label': 'Panels' } }, bar, ...bodies);
  show(all.find((tab) => tab.name === kept)?.name ?? all[0].name);
  return { node, show };
}
