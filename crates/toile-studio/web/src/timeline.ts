import { el } from './dom';
import { count, quantity } from './format';
import type { SeamInfo } from './protocol';
import type { Studio } from './studio';
import { button, segments } from './widgets';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

/** Transport, and the recorded frames. */
export function timeline(studio: Studio): HTMLElement {
  const play = button({ icon: 'play', label: 'Play (Space)', class: 'primary play', press: () => studio.toggle() });
  const pauseFace = button({ icon: 'pause', label: 'Pause (Space)', class: 'primary play', press: () => studio.toggle() });
  const step = button({ icon: 'step', label: 'One frame on (.)', class: 'quiet', press: () => studio.step() });
  const first = button({ icon: 'first', label: 'First recorded frame (Home)', class: 'quiet', press: () => toFirst(studio) });
  const reset = button({ icon: 'reset', label: 'Start over (R)', class: 'quiet', press: () => void studio.edit({ do: 'reset' }) });
  const undo = button({ icon: 'undo', label: 'Undo', class: 'quiet', press: () => void studio.edit({ do: 'undo' }) });
  const redo = button({ icon: 'redo', label: 'Redo', class: 'quiet', press: () => void studio.edit({ do: 'redo' }) });
  const live = button({ text: 'Live', label: 'Show the present (End)', class: 'live', press: () => studio.live() });
  const time = el('span', { class: 'clock', text: '0.00 s' });
  const tick = el('span', { class: 'quiet-text', text: 'tick 0' });
  const rate = el('span', { class: 'quiet-text rate' });
  const speed = segments('Speed, 1 is real time', SPEEDS.map((value) => ({ value: String(value), text: `${value}×` })), (value) =>
    studio.connection.send({ say: 'speed', factor: Number(value) }),
  );
  speed.node.classList.add('speeds');
  const track = scrubber(studio);
  const stopped = el('div', { class: 'stopped', attrs: { role: 'status' } });
  const seams = el('div', { class: 'seams' });

  const show = (): void => {
    const room = studio.room.now;
    const playing = room?.playing ?? false;
    play.hidden = playing;
    pauseFace.hidden = !playing;
    speed.set(String(room?.speed ?? 1));
    undo.disabled = !room?.undo;
    redo.disabled = !room?.redo;
    name(undo, room?.undo ? `Undo: ${room.undo} (Ctrl+Z)` : 'Nothing to undo');
    name(redo, room?.redo ? `Redo: ${room.redo} (Ctrl+Shift+Z)` : 'Nothing to redo');
    stopped.hidden = !room?.stopped;
    stopped.textContent = room?.stopped ?? '';
    const open = room?.seams ?? [];
    const stuck = open.find((seam) => seam.stuck);
    seams.hidden = open.length === 0 || !stopped.hidden;
    seams.classList.toggle('stuck', stuck !== undefined);
    seams.textContent = open.length > 0 ? sewing(studio, open, stuck) : '';
    // Read out when it matters, not with every frame.
    seams.setAttribute('aria-live', stuck ? 'polite' : 'off');
  };
  studio.room.watch(show);
  let beats: number[] = [];
  studio.head.watch((head) => {
    if (!head) return;
    time.textContent = `${head.time.toFixed(2)} s`;
    tick.textContent = `tick ${count(head.tick)}`;
    live.classList.toggle('off', head.recorded);
    live.setAttribute('aria-pressed', String(!head.recorded));
    const now = performance.now();
    beats = [...beats.filter((beat) => now - beat < 2000), now];
    const span = now - beats[0];
    rate.textContent = beats.length > 2 ? `${((1000 * (beats.length - 1)) / span).toFixed(0)} fps` : '';
  });
  // Nothing drawn for a while is no rate; while time runs, the engine is at work on a hard frame.
  setInterval(() => {
    const quiet = beats.length ? performance.now() - beats[beats.length - 1] : 0;
    if (quiet < 1500) return;
    const busy = studio.room.now?.playing && studio.connection.link.now.is === 'open' && !studio.scrubbing;
    rate.textContent = busy ? `solving, ${Math.round(quiet / 1000)} s` : '';
  }, 500);
  return el(
    'footer',
    { class: 'timeline', attrs: { 'aria-label': 'Time' } },
    stopped,
    seams,
    el('div', { class: 'transport', attrs: { role: 'toolbar', 'aria-label': 'Transport' } }, first, play, pauseFace, step, reset, el('span', { class: 'gap' }), undo, redo),
    track,
    live,
    el('div', { class: 'clocks' }, time, el('div', {}, tick, rate)),
    speed.node,
  );
}

function owner(studio: Studio, { object }: SeamInfo): string {
  return studio.scene.now?.objects.find(({ id }) => id === object)?.name ?? 'the cloth';
}

/** How far seams are from closing, in words. */
function sewing(studio: Studio, open: readonly SeamInfo[], stuck?: SeamInfo): string {
  const widest = stuck ?? open.reduce((a, b) => (a.distance > b.distance ? a : b));
  const way = quantity(widest.distance, 'm');
  const more = open.length > 1 ? `, ${open.length} seams are open` : '';
  if (stuck) return `Seam of ${owner(studio, stuck)} stays open by ${way}: ${stuck.stuck}${more}`;
  return `Sewing ${owner(studio, widest)}: ${way} apart${more}`;
}

function name(node: HTMLElement, text: string): void {
  node.title = text;
  node.setAttribute('aria-label', text);
}

export function toFirst(studio: Studio): void {
  const room = studio.room.now;
  if (room && studio.present > room.first_recorded) studio.scrub(room.first_recorded);
}

/** The recorded range; a hand or arrow keys show a frame of it. */
function scrubber(studio: Studio): HTMLElement {
  const fill = el('div', { class: 'track-fill' });
  const thumb = el('div', { class: 'track-thumb' });
  const left = el('span', {});
  const right = el('span', {});
  const track = el('div', { class: 'track', attrs: { role: 'slider', tabindex: '0', 'aria-label': 'Recorded frames' } }, el('div', { class: 'track-line' }, fill), thumb);
  let held = false;
  let wanted: number | null = null;
  let asked = 0;

  const range = (): [number, number] => {
    const low = studio.room.now?.first_recorded ?? 0;
    return [low, Math.max(low + 1, studio.present)];
  };
  const paint = (): void => {
    const [low, high] = range();
    const shown = wanted ?? studio.head.now?.tick ?? high;
    const part = Math.min(1, Math.max(0, (shown - low) / (high - low)));
    track.style.setProperty('--part', `${100 * part}%`);
    left.textContent = count(low);
    right.textContent = count(studio.present);
    track.setAttribute('aria-valuemin', String(low));
    track.setAttribute('aria-valuemax', String(high));
    track.setAttribute('aria-valuenow', String(shown));
    track.setAttribute('aria-valuetext', `tick ${shown} of ${high}`);
  };
  const go = (tick: number): void => {
    const [low, high] = range();
    wanted = Math.round(Math.min(high, Math.max(low, tick)));
    paint();
    // One question a picture: the server answers the newest.
    if (!asked) {
      asked = requestAnimationFrame(() => {
        asked = 0;
        if (wanted !== null) studio.scrub(wanted);
      });
    }
  };
  const at = (event: PointerEvent): number => {
    const box = track.getBoundingClientRect();
    const [low, high] = range();
    return low + ((event.clientX - box.left - 8) / (box.width - 16)) * (high - low);
  };
  track.addEventListener('pointerdown', (event) => {
    track.setPointerCapture(event.pointerId);
    held = true;
    go(at(event));
  });
  track.addEventListener('pointermove', (event) => held && go(at(event)));
  const up = (): void => {
    held = false;
    if (wanted !== null && asked) studio.scrub(wanted);
  };
  track.addEventListener('pointerup', up);
  track.addEventListener('pointercancel', up);
  track.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go((wanted ?? studio.head.now?.tick ?? 0) + by);
  });
  studio.room.watch(paint);
  studio.head.watch((head) => {
    if (!held && !asked) wanted = null;
    if (head) paint();
  });
  return el('div', { class: 'scrubber' }, left, track, right);
}
