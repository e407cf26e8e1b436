import { Vector3 } from 'three';
import { el } from './dom';
import { digits } from './format';
import { DROP_HEIGHT, options } from './options';
import { type Hit, inBox, inPlane, onGround, pick } from './picking';
import type { Vector } from './vector';
import type { Studio, Tool } from './studio';
import { Tailor } from './tailor';
import type { Piece } from './view/piece';

/** What a pointer that is down is doing. */
type Doing =
  | { is: 'orbit' | 'pan'; click: Hit | null; moved: number }
  | { is: 'grab'; hand: number; object: number; vertex: number; at: Vector3; through: Vector3; to: Vector3; dirty: boolean }
  | { is: 'box' | 'job' }
  | { is: 'gust'; from: Vector3; along: Vector3 };

interface Pointer {
  x: number;
  y: number;
  startX: number;
  startY: number;
  doing: Doing;
}

/** A hand that holds a vertex. */
export interface Holding {
  hand: number;
  object: number;
  vertex: number;
  to: Vector;
}

const cloth = (piece: Piece): boolean => piece.info.role === 'cloth';
const list = (v: Vector3): Vector => [v.x, v.y, v.z];

/** Pixels that a click may move. */
const SLOP = 5;
/** Speed of a gust for each metre that its arrow is long on the screen [1/s]. */
const GUST = 12;

/** Pointers on the view: each does one thing from down to up, several at once. */
export class Hands {
  readonly tailor: Tailor;
  readonly #studio: Studio;
  readonly #pointers = new Map<number, Pointer>();
  readonly #box = el('div', { class: 'selection' });
  readonly #tip = el('div', { class: 'tip' });
  #hover: { x: number; y: number; touch: boolean } | null = null;
  #pinch = 0;

  constructor(studio: Studio) {
    this.#studio = studio;
    this.tailor = new Tailor(studio);
    const canvas = studio.viewport.canvas;
    canvas.parentElement?.append(this.#box, this.#tip);
    this.#box.hidden = this.#tip.hidden = true;
    canvas.addEventListener('pointerdown', (event) => this.#down(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    canvas.addEventListener('pointerup', (event) => this.#up(event, true));
    canvas.addEventListener('pointercancel', (event) => this.#up(event, false));
    canvas.addEventListener('pointerleave', () => this.#leave());
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('dblclick', (event) => this.#closer(event));
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const pixels = event.deltaMode === 1 ? 30 * event.deltaY : event.deltaY;
        // On cloth the wheel is the brush's; with Ctrl, or beside it, it zooms.
        if (!event.ctrlKey && canvas.dataset.over === 'cloth' && this.tailor.widen(-Math.sign(pixels))) return;
        studio.viewport.rig.zoom(Math.exp(0.0012 * Math.max(-300, Math.min(300, pixels))));
      },
      { passive: false },
    );
    studio.viewport.onBefore = () => this.#before();
    studio.tool.watch(() => this.#leave());
    studio.scene.watch(() => this.#forget());
  }

  get holding(): Holding[] {
    return [...this.#pointers.values()].flatMap(({ doing }) =>
      doing.is === 'grab' ? [{ hand: doing.hand, object: doing.object, vertex: doing.vertex, to: list(doing.to) }] : [],
    );
  }

  #down(event: PointerEvent): void {
    const { viewport, tool } = this.#studio;
    viewport.canvas.focus({ preventScroll: true });
    viewport.canvas.setPointerCapture(event.pointerId);
    this.#leave();
    const { clientX: x, clientY: y } = event;
    const pointer: Pointer = { x, y, startX: x, startY: y, doing: { is: 'orbit', click: null, moved: 0 } };
    this.#pointers.set(event.pointerId, pointer);
    if (event.button === 1 || event.button === 2) {
      pointer.doing = { is: 'pan', click: null, moved: 0 };
      return;
    }
    // A second finger makes a view of what was a stroke.
    const strokes = [...this.#pointers.values()].filter(({ doing }) => doing.is === 'job');
    for (const one of strokes) one.doing = { is: 'orbit', click: null, moved: Infinity };
    if (strokes.length > 0) this.tailor.cancel();
    if (event.altKey || strokes.length > 0) return;
    const now = tool.now;
    if (this.tailor.has(now)) {
      this.#hover = { x, y, touch: event.pointerType === 'touch' };
      if (this.tailor.down(x, y)) pointer.doing = { is: 'job' };
      viewport.invalidate();
      return;
    }
    if ((now === 'pin' || now === 'unpin') && event.shiftKey) {
      pointer.doing = { is: 'box' };
      return;
    }
    if (now === 'wind') {
      const from = inPlane(viewport, viewport.rig.target, x, y);
      if (from) pointer.doing = { is: 'gust', from, along: new Vector3() };
      return;
    }
    const hit = pick(viewport, x, y, now === 'drop' ? () => true : cloth);
    if (now === 'grab' && hit) this.#grab(pointer, hit);
    else if (pointer.doing.is === 'orbit') pointer.doing.click = hit;
  }

  #grab(pointer: Pointer, hit: Hit): void {
    if (this.#recorded()) return;
    const place = new Vector3().fromArray(hit.piece.positions, 3 * hit.vertex);
    const taken = [...this.#pointers.values()].map(({ doing }) => (doing.is === 'grab' ? doing.hand : -1));
    let hand = 0;
    while (taken.includes(hand)) hand += 1;
    const object = hit.piece.info.id;
    pointer.doing = { is: 'grab', hand, object, vertex: hit.vertex, at: place.clone(), through: place.clone(), to: place, dirty: false };
    void this.#studio.edit({ do: 'grab', hand, object, vertex: hit.vertex, to: list(place) });
    this.#studio.viewport.canvas.classList.add('grabbing');
    this.#studio.viewport.invalidate();
  }

  #move(event: PointerEvent): void {
    const pointer = this.#pointers.get(event.pointerId);
    const { viewport } = this.#studio;
    if (!pointer) {
      this.#hover = { x: event.clientX, y: event.clientY, touch: event.pointerType === 'touch' };
      viewport.invalidate();
      return;
    }
    const dx = event.clientX - pointer.x;
    const dy = event.clientY - pointer.y;
    const doing = pointer.doing;
    if (doing.is === 'orbit' || doing.is === 'pan') {
      doing.moved += Math.hypot(dx, dy);
      const free = [...this.#pointers.values()].filter(({ doing }) => doing.is === 'orbit' || doing.is === 'pan');
      if (free.length >= 2) this.#twoFingers(free, pointer, dx, dy);
      else if (doing.is === 'pan') viewport.rig.pan(dx, dy, viewport.size.y);
      else if (doing.moved > SLOP || !doing.click) viewport.rig.orbit(dx, dy);
    } else if (doing.is === 'grab') {
      const to = inPlane(viewport, doing.through, event.clientX, event.clientY);
      if (to) {
        doing.to = to;
        doing.dirty = true;
        viewport.invalidate();
      }
    } else if (doing.is === 'gust') {
      const to = inPlane(viewport, doing.from, event.clientX, event.clientY);
      if (to) doing.along.copy(to).sub(doing.from);
      viewport.invalidate();
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
    if (doing.is === 'job') {
      this.#hover = { x: event.clientX, y: event.clientY, touch: event.pointerType === 'touch' };
      this.tailor.move(event.clientX, event.clientY);
    }
    if (doing.is === 'box') this.#drawBox(pointer);
  }

  /** Two fingers beside the cloth: together they pan, apart they zoom. */
  #twoFingers(free: Pointer[], moved: Pointer, dx: number, dy: number): void {
    const { viewport } = this.#studio;
    viewport.rig.pan(dx / 2, dy / 2, viewport.size.y);
    const other = free.find((pointer) => pointer !== moved);
    if (!other) return;
    const apart = Math.hypot(moved.x + dx - other.x, moved.y + dy - other.y);
    if (this.#pinch > 0 && apart > 0) viewport.rig.zoom(this.#pinch / apart);
    this.#pinch = apart;
    // Neither is a click any more.
    for (const { doing } of free) if ('moved' in doing) doing.moved = Infinity;
  }

  #up(event: PointerEvent, meant: boolean): void {
    const pointer = this.#pointers.get(event.pointerId);
    if (!pointer) return;
    this.#pointers.delete(event.pointerId);
    this.#pinch = 0;
    const { viewport } = this.#studio;
    const doing = pointer.doing;
    if (doing.is === 'grab') {
      if (doing.dirty) void this.#studio.edit({ do: 'drag', hand: doing.hand, to: list(doing.to) });
      // What was removed while it was held needs no release, and nobody needs to be told.
      void this.#studio.connection.edit({ do: 'release', hand: doing.hand });
      viewport.canvas.classList.remove('grabbing');
    } else if (doing.is === 'box') {
      this.#box.hidden = true;
      if (meant) this.#selectBox(pointer);
    } else if (doing.is === 'gust') {
      if (meant) this.#blow(doing.along);
    } else if (doing.is === 'job') {
      this.tailor.up(event.clientX, event.clientY, meant);
      if (event.pointerType === 'touch') this.#hover = null;
    } else if (doing.is === 'orbit' && meant && doing.moved <= SLOP) {
      this.#click(doing.click, event.clientX, event.clientY);
      this.tailor.click(event.clientX, event.clientY, event.pointerType === 'touch');
    }
    viewport.invalidate();
  }

  #click(hit: Hit | null, x: number, y: number): void {
    const { tool, chosen, object } = this.#studio;
    if (tool.now === 'drop') {
      this.#drop(hit, x, y);
      return;
    }
    if (!hit) return;
    object.set(hit.piece.info.id);
    if (tool.now === 'explain') chosen.set({ object: hit.piece.info.id, vertex: hit.vertex });
    if (tool.now === 'pin' || tool.now === 'unpin') this.hold(tool.now, hit.piece.info.id, [hit.vertex]);
  }

  /** Pins or unpins vertices. */
  hold(how: 'pin' | 'unpin', object: number, vertices: number[]): void {
    if (!this.#recorded()) void this.#studio.edit({ do: how, object, vertices });
  }

  #drop(hit: Hit | null, x: number, y: number): void {
    const at = this.#dropPlace(hit, x, y);
    if (!at) {
      this.#studio.say('info', 'Click on cloth, on a body or on the ground: the thing falls from above that place.');
      return;
    }
    if (this.#recorded()) return;
    void this.#studio.edit({ do: 'drop', ...options.drop.now, at: list(at), velocity: [0, 0, 0] });
  }

  #dropPlace(hit: Hit | null, x: number, y: number): Vector3 | null {
    const ground = this.#studio.scene.now?.ground;
    const place = hit?.point ?? (typeof ground === 'number' ? onGround(this.#studio.viewport, ground, x, y) : null);
    if (!place) return null;
    return place.clone().add(new Vector3(0, DROP_HEIGHT + options.drop.now.size / 2, 0));
  }

  #blow(along: Vector3): void {
    const velocity = along.clone().multiplyScalar(GUST);
    if (velocity.length() < 0.2 || this.#recorded()) return;
    void this.#studio.edit({ do: 'gust', velocity: list(velocity), seconds: options.gust.now.seconds });
  }

  #selectBox(pointer: Pointer): void {
    const how = this.#studio.tool.now === 'unpin' ? 'unpin' : 'pin';
    const box = {
      left: Math.min(pointer.startX, pointer.x),
      right: Math.max(pointer.startX, pointer.x),
      top: Math.min(pointer.startY, pointer.y),
      bottom: Math.max(pointer.startY, pointer.y),
    };
    const found = inBox(this.#studio.viewport, box, cloth);
    for (const [piece, vertices] of found) this.hold(how, piece.info.id, vertices);
    if (found.size === 0) this.#studio.say('info', 'No vertex of cloth is inside the box.');
  }

  #drawBox(pointer: Pointer): void {
    const origin = this.#studio.viewport.canvas.getBoundingClientRect();
    this.#box.hidden = false;
    Object.assign(this.#box.style, {
      left: `${Math.min(pointer.startX, pointer.x) - origin.left}px`,
      top: `${Math.min(pointer.startY, pointer.y) - origin.top}px`,
      width: `${Math.abs(pointer.x - pointer.startX)}px`,
      height: `${Math.abs(pointer.y - pointer.startY)}px`,
    });
  }

  #closer(event: MouseEvent): void {
    const { viewport, tool } = this.#studio;
    if (tool.now !== 'grab') return;
    const hit = pick(viewport, event.clientX, event.clientY, () => true);
    if (!hit) viewport.frameAll();
  }

  /** Recorded frames cannot be touched: what is changed is the present. */
  #recorded(): boolean {
    if (!this.#studio.scrubbing) return false;
    this.#studio.say('info', 'This is a recorded frame. Press Live (End) to touch the cloth as it is now.');
    return true;
  }

  /** Before each picture: hands send where they are, marks follow the cloth. */
  #before(): void {
    const { viewport, tool } = this.#studio;
    const pairs: [Vector3, Vector3][] = [];
    let gust: { from: Vector3; along: Vector3 } | null = null;
    for (const { doing } of this.#pointers.values()) {
      if (doing.is === 'gust') gust = doing;
      if (doing.is !== 'grab') continue;
      if (doing.dirty) {
        doing.dirty = false;
        void this.#studio.edit({ do: 'drag', hand: doing.hand, to: list(doing.to) });
      }
      const vertex = viewport.vertex(doing.object, doing.vertex);
      if (!vertex) continue;
      doing.at = vertex;
      pairs.push([vertex, doing.to]);
    }
    viewport.markers.hands(pairs);
    viewport.markers.wind(gust?.from ?? null, gust?.along, 0.006 * viewport.rig.distance);
    this.#tip.hidden = true;
    if (gust && gust.along.length() * GUST >= 0.2) {
      const [x, y] = viewport.project(gust.from.clone().add(gust.along));
      this.#tell(`${digits(gust.along.length() * GUST, 2)} m/s`, x, y);
    }
    this.#point(tool.now);
    const chosen = this.#studio.chosen.now;
    viewport.markers.chosen(chosen ? viewport.vertex(chosen.object, chosen.vertex) : null);
  }

  /** What is under a pointer that is not down. */
  #point(tool: Tool): void {
    const { viewport } = this.#studio;
    const hover = this.#hover;
    viewport.markers.hover(null);
    viewport.markers.ghost(null);
    viewport.canvas.dataset.over = this.tailor.before(hover) ? 'cloth' : 'nothing';
    if (this.tailor.has(tool)) return;
    if (!hover || hover.touch || this.#pointers.size > 0 || tool === 'wind') return;
    const hit = pick(viewport, hover.x, hover.y, tool === 'drop' ? () => true : cloth);
    if (tool === 'drop') {
      const at = this.#dropPlace(hit, hover.x, hover.y);
      if (at) viewport.markers.ghost({ ...options.drop.now, at });
    } else if (hit) {
      viewport.canvas.dataset.over = 'cloth';
      viewport.markers.hover(new Vector3().fromArray(hit.piece.positions, 3 * hit.vertex));
    }
  }

  #tell(text: string, x: number, y: number): void {
    const origin = this.#studio.viewport.canvas.getBoundingClientRect();
    this.#tip.hidden = false;
    this.#tip.textContent = text;
    this.#tip.style.transform = `translate(${Math.round(x - origin.left + 12)}px, ${Math.round(y - origin.top - 12)}px)`;
  }

  #leave(): void {
    this.#hover = null;
    this.#studio.viewport.invalidate();
  }

  /** Objects may be gone, and vertices may have other numbers: hands hold what is nearest to what they held. */
  #forget(): void {
    this.tailor.forget();
    for (const pointer of this.#pointers.values()) {
      const doing = pointer.doing;
      if (doing.is !== 'grab') continue;
      const p = this.#studio.viewport.piece(doing.object)?.positions;
      if (!p) {
        pointer.doing = { is: 'orbit', click: null, moved: Infinity };
        continue;
      }
      const away = (k: number): number => Math.hypot(p[k] - doing.at.x, p[k + 1] - doing.at.y, p[k + 2] - doing.at.z);
      for (let k = 0, nearest = Infinity; k < p.length; k += 3) if (away(k) < nearest) [nearest, doing.vertex] = [away(k), k / 3];
    }
  }
}
