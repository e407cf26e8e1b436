import { el } from './dom';
import type { Hands } from './hands';
import { gustNow } from './panels/air';
import type { Studio } from './studio';
import { toFirst } from './timeline';
import { frame, TOOLS } from './toolbar';
import { dialog } from './widgets';

export interface KeyActions {
  gallery: () => void;
  importMesh: () => void;
  panel: () => void;
}

const MOUSE: [string, string][] = [
  ['Left drag on cloth', 'what the tool does'],
  ['Left drag beside it, Alt + left drag', 'orbit'],
  ['Right or middle drag, two fingers', 'pan'],
  ['Wheel, pinch', 'zoom'],
  ['Wheel on cloth with a brush', 'its radius'],
  ['Shift + drag with Pin or Unpin', 'box selection'],
  ['Drop a file on the page', 'import an OBJ'],
];

const KEYS: [string, string][] = [
  ['Space', 'play or pause'],
  ['.', 'one frame on'],
  ['R', 'start over'],
  ['Home / End', 'first recorded frame / present'],
  ['← / →', 'a recorded frame back / on'],
  ['Ctrl+Z / Ctrl+Shift+Z', 'undo / redo'],
  ['F', 'frame all, or the chosen vertex'],
  ['H', 'the first view'],
  ['1 – 6', TOOLS.slice(0, 6).map(({ name }) => name.toLowerCase()).join(', ')],
  [TOOLS.slice(6).map(({ key }) => key).join(' / '), TOOLS.slice(6).map(({ name }) => name.toLowerCase()).join(', ')],
  ['[ / ]', 'a smaller / larger brush'],
  ['G', 'a gust'],
  ['O', 'open a scene'],
  ['I', 'import an OBJ'],
  ['P', 'show or hide the panels'],
  ['Esc', 'let the chosen vertex or border go'],
  ['?', 'this list'],
];

export function help(): HTMLDialogElement {
  const table = (rows: [string, string][], name: (text: string) => (Node | string)[]): HTMLElement =>
    el('dl', { class: 'keys' }, ...rows.flatMap(([key, what]) => [el('dt', {}, ...name(key)), el('dd', { text: what })]));
  const node = dialog(
    'Keys and hands',
    el('div', { class: 'help-columns' }, el('div', {}, el('h3', { text: 'Keyboard' }), table(KEYS, chips)), el('div', {}, el('h3', { text: 'Mouse and fingers' }), table(MOUSE, (text) => [text]))),
  );
  return node;
}

function chips(keys: string): HTMLElement[] {
  return keys.split(' / ').map((key) => el('kbd', { text: key }));
}

/** Keys of the whole page; fields keep theirs. */
export function listen(studio: Studio, hands: Hands, showHelp: () => void, actions: KeyActions): void {
  const scrubBy = (by: number): void => {
    const shown = studio.head.now?.tick;
    const low = studio.room.now?.first_recorded ?? 0;
    if (shown !== undefined) studio.scrub(Math.min(studio.present, Math.max(low, shown + by)));
  };
  const plain: Record<string, () => void> = {
    ' ': () => studio.toggle(),
    '.': () => studio.step(),
    r: () => void studio.edit({ do: 'reset' }),
    Home: () => toFirst(studio),
    End: () => studio.live(),
    ArrowLeft: () => scrubBy(-1),
    ArrowRight: () => scrubBy(1),
    f: () => frame(studio),
    h: () => studio.viewport.home(),
    g: () => gustNow(studio),
    o: actions.gallery,
    i: actions.importMesh,
    p: actions.panel,
    '?': showHelp,
    Escape: () => {
      studio.chosen.set(null);
      hands.tailor.cancel();
    },
    '[': () => void hands.tailor.widen(-1),
    ']': () => void hands.tailor.widen(1),
  };
  for (const { tool, key } of TOOLS) plain[key.toLowerCase()] = () => studio.tool.set(tool);
  // What the mouse pressed must not catch the next Space; those who press by keyboard keep their place.
  addEventListener('click', (event) => {
    const pressed = (event.target as HTMLElement).closest('button, summary, input[type=checkbox], input[type=range]');
    if (event.detail > 0 && pressed && !pressed.closest('dialog')) (document.activeElement as HTMLElement | null)?.blur();
  });
  addEventListener('keydown', (event) => {
    if (document.querySelector('dialog[open]')) return;
    const target = event.target as HTMLElement;
    const typing = target.matches('input:not([type=range]):not([type=checkbox]), select, textarea');
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey) {
      if (typing || (key !== 'z' && key !== 'y')) return;
      event.preventDefault();
      void studio.edit({ do: key === 'y' || event.shiftKey ? 'redo' : 'undo' });
      return;
    }
    if (typing || event.altKey) return;
    // Space and Enter press a button that has the focus.
    if (key === ' ' && target.matches('button, summary, input')) return;
    if (key.startsWith('Arrow') && target.matches('input, [role=slider]')) return;
    const act = plain[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
