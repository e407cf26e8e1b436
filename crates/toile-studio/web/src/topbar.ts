import { roomName } from './connection';
import { download, el } from './dom';
import { count } from './format';
import { lamp } from './lamp';
import { initials, inkOf } from './panels/room';
import type { Studio } from './studio';
import { switchTheme, theme } from './theme';
import { button } from './widgets';

export interface BarActions {
  gallery: () => void;
  help: () => void;
  panel: () => void;
}

/** Scene, verdict, people, files, theme and help. */
export function topbar(studio: Studio, actions: BarActions): HTMLElement {
  const scene = button({ icon: 'gallery', text: '…', label: 'Open a scene (O)', class: 'scene-name', press: actions.gallery });
  const facts = el('span', { class: 'quiet-text scene-facts' });
  studio.scene.watch((info) => {
    const label = scene.querySelector('span');
    if (label) label.textContent = info?.name ?? '…';
    const moving = info?.objects.filter((object) => object.role === 'cloth') ?? [];
    const faces = moving.reduce((sum, object) => sum + object.faces, 0);
    facts.textContent = info ? `${count(faces)} triangles` : '';
  });
  const sun = button({ icon: 'sun', label: 'Light theme', class: 'quiet', press: switchTheme });
  const moon = button({ icon: 'moon', label: 'Dark theme', class: 'quiet', press: switchTheme });
  theme.watch((now) => {
    sun.hidden = now === 'light';
    moon.hidden = now === 'dark';
  });
  return el(
    'header',
    { class: 'topbar' },
    el('div', { class: 'brand' }, mark(), el('span', { text: 'toile' })),
    scene,
    facts,
    el('span', { class: 'space' }),
    link(studio),
    lamp(studio),
    people(studio),
    files(studio),
    sun,
    moon,
    button({ icon: 'help', label: 'Keys and help (?)', class: 'quiet', press: actions.help }),
    button({ icon: 'panel', label: 'Show or hide the panels (P)', class: 'quiet', press: actions.panel }),
  );
}

/** Two threads crossing. */
function mark(): SVGSVGElement {
  const name = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(name, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  for (const [d, kind] of [
    ['M3 6h4m6 0h4M3 14h14', 'warp'],
    ['M6 3v14M14 3v8m0 6v-1', 'weft'],
  ]) {
    const path = document.createElementNS(name, 'path');
    path.setAttribute('d', d);
    path.setAttribute('class', kind);
    svg.append(path);
  }
  return svg;
}

function people(studio: Studio): HTMLElement {
  const node = el('div', { class: 'faces', attrs: { role: 'img' } });
  studio.room.watch((room) => {
    const all = room?.people ?? [];
    node.replaceChildren(
      ...all.slice(0, 4).map(([number, name]) => {
        const face = el('span', { class: 'avatar', text: initials(name), title: studio.person(number) });
        face.style.background = inkOf(number);
        return face;
      }),
    );
    if (all.length > 4) node.append(el('span', { class: 'avatar more', text: `+${all.length - 4}` }));
    node.setAttribute('aria-label', `${all.length} in this room: ${all.map(([, name]) => name).join(', ')}`);
  });
  return node;
}

/** Says so when there is no line to the engine. */
function link(studio: Studio): HTMLElement {
  const text = el('span');
  const again = button({ text: 'Now', label: 'Connect now', class: 'small', press: () => studio.connection.open() });
  const node = el('div', { class: 'link', attrs: { role: 'status' } }, el('i', {}), text, again);
  const show = (): void => {
    const now = studio.connection.link.now;
    node.hidden = now.is === 'open';
    node.dataset.is = now.is;
    again.hidden = now.is !== 'waiting';
    if (now.is === 'connecting') text.textContent = 'Connecting…';
    if (now.is === 'waiting') text.textContent = `No engine. Again in ${Math.max(0, Math.ceil((now.until - Date.now()) / 1000))} s`;
    if (now.is === 'refused') text.textContent = now.why;
  };
  studio.connection.link.watch(show);
  setInterval(show, 1000);
  return node;
}

/** The picture, the frame and the recording as files. */
function files(studio: Studio): HTMLElement {
  const menu = el('div', { class: 'menu', attrs: { role: 'menu' } });
  const stem = (): string => {
    const name = (studio.scene.now?.name ?? 'toile').replace(/[^\w-]+/g, '_');
    return `${name}-${studio.head.now?.tick ?? 0}`;
  };
  const fetched = async (address: string, name: string): Promise<void> => {
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(((await answer.text()) || answer.statusText).slice(0, 300));
      download(name, await answer.blob());
    } catch (error) {
      studio.say('error', `${name} could not be fetched: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const room = `?room=${encodeURIComponent(roomName())}`;
  const items: [string, string, () => void][] = [
    ['Save picture', 'PNG', () => void studio.viewport.picture().then((blob) => download(`${stem()}.png`, blob))],
    ['Export frame', 'OBJ', () => void fetched(`/api/frame.obj${room}`, `${stem()}.obj`)],
    ['Download recording', 'JSON lines', () => void fetched(`/api/replay${room}`, `${stem()}.replay.jsonl`)],
  ];
  const close = (): void => {
    menu.hidden = true;
    open.setAttribute('aria-expanded', 'false');
  };
  for (const [text, kind, press] of items) {
    const act = (): void => {
      close();
      press();
    };
    menu.append(el('button', { attrs: { type: 'button', role: 'menuitem' }, on: { click: act } }, el('span', { text }), el('span', { class: 'quiet-text', text: kind })));
  }
  const open = button({
    icon: 'download',
    label: 'Save and export',
    class: 'quiet',
    press() {
      menu.hidden = !menu.hidden;
      open.setAttribute('aria-expanded', String(!menu.hidden));
      if (!menu.hidden) menu.querySelector('button')?.focus();
    },
  });
  open.setAttribute('aria-haspopup', 'menu');
  const node = el('div', { class: 'menu-box' }, open, menu);
  close();
  document.addEventListener('pointerdown', (event) => {
    if (!node.contains(event.target as Node)) close();
  });
  node.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
      open.focus();
    }
  });
  return node;
}
