import { Vector3 } from 'three';
import { el } from './dom';
import { options } from './options';
import { type Hit, surface } from './picking';
import type { Job, Spot } from './protocol';
import { type Border, hold, pairs, type Sheet, sheetOf } from './sheet';
import type { Studio, Tool } from './studio';
import { Chalk } from './view/chalk';
import type { Piece } from './view/piece';

/** A place of the page under a pointer, and the cloth there. */
interface Sample {
  x: number;
  y: number;
  hit: Hit | null;
}

/** A job that a pointer which is down prepares, on the mesh that was there when it went down. */
type Stroke =
  | { is: 'cut'; samples: Sample[] }
  | { is: 'brush'; piece: Piece; faces: Set<number> }
  | { is: 'size'; mesh: number; place: Vector3 };

/** A border that was clicked. */
interface Chosen {
  piece: Piece;
  border: Border;
}

const TOOLS: readonly Tool[] = ['cut', 'size', 'erase', 'seam', 'fill'];
/** Pixels between two places where a stroke looks for cloth. */
const STEP = 8;
/** Pixels by which a drawn line may be straightened: every point of it becomes a vertex. */
const STRAIGHTEN = 5;
/** How near to a border a pointer must be to mean it [px]; fingers are wider. */
const NEAR = 16;
const NEAR_FINGER = 32;
/** How much farther a border counts if the pointer is not on its cloth [px]. */
const BESIDE = 6;
/** How long a refusal stays at its place [ms]. */
const STAY = 7000;
/** Radii of brushes [m]. */
const RADII = [0.005, 2] as const;

const isCloth = ({ info }: Piece): boolean => info.role === 'cloth' && !info.solid;
const at = (piece: Piece, vertex: number): Vector3 => new Vector3().fromArray(piece.positions, 3 * vertex);

/** Scissors, brushes, needle: what changes the mesh of cloth. */
export class Tailor {
  readonly #studio: Studio;
  readonly #chalk: Chalk;
  readonly #refusal = el('div', { class: 'tip refusal', attrs: { role: 'alert' } });
  #stroke: Stroke | null = null;
  #first: Chosen | null = null;
  #timer = 0;

  constructor(studio: Studio) {
    this.#studio = studio;
    this.#chalk = new Chalk(studio.viewport);
    this.#refusal.hidden = true;
    studio.viewport.canvas.parentElement?.append(this.#chalk.node, this.#refusal);
    studio.tool.watch(() => this.cancel());
  }

  has(tool: Tool): boolean {
    return TOOLS.includes(tool);
  }

  /** Whether a border waits for the other one. */
  get waiting(): boolean {
    return this.#first !== null;
  }

  /** A pointer goes down; whether it belongs to a job now. */
  down(x: number, y: number): boolean {
    const tool = this.#studio.tool.now;
    const hit = this.#hit(x, y);
    this.#hush();
    if (tool === 'cut') {
      this.#stroke = { is: 'cut', samples: [{ x, y, hit }] };
      return true;
    }
    if (!hit) return false;
    if (tool === 'size') {
      this.#stroke = { is: 'size', mesh: -1, place: new Vector3(Infinity) };
      this.#resize(hit, x, y);
      return true;
    }
    if (tool !== 'erase') return false;
    this.#stroke = { is: 'brush', piece: hit.piece, faces: new Set(this.#under(hit)) };
    return true;
  }

  move(x: number, y: number): void {
    const stroke = this.#stroke;
    if (stroke?.is === 'cut') {
      const last = stroke.samples[stroke.samples.length - 1];
      const steps = Math.max(1, Math.ceil(Math.hypot(x - last.x, y - last.y) / STEP));
      for (let k = 1; k <= steps; k += 1) this.#sample(stroke.samples, last.x + ((x - last.x) * k) / steps, last.y + ((y - last.y) * k) / steps);
    } else if (stroke) {
      const hit = this.#hit(x, y);
      if (hit && stroke.is === 'size') this.#resize(hit, x, y);
      if (hit && stroke.is === 'brush' && hit.piece === stroke.piece && options.erase.now.how === 'brush') for (const face of this.#under(hit)) stroke.faces.add(face);
    }
    this.#studio.viewport.invalidate();
  }

  up(x: number, y: number, meant: boolean): void {
    const stroke = this.#stroke;
    this.#stroke = null;
    if (!stroke || !meant) return;
    if (stroke.is === 'cut') this.#cut(stroke.samples, x, y);
    if (stroke.is !== 'brush') return;
    const [face] = stroke.faces;
    const job: Job = options.erase.now.how === 'piece' ? { is: 'discard', face } : { is: 'trim', faces: [...stroke.faces] };
    void this.#do(stroke.piece, job, x, y);
  }

  /** A click with a tool that has no strokes. */
  click(x: number, y: number, finger: boolean): void {
    const tool = this.#studio.tool.now;
    if (tool !== 'seam' && tool !== 'fill') return;
    this.#hush();
    const found = this.#border(x, y, finger);
    if (!found) {
      this.#refuse('There is no border here: point at the edge of cloth, of a cut or of a hole.', x, y);
      return;
    }
    if (tool === 'fill') {
      void this.#do(found.piece, { is: 'fill', vertex: found.border.path[0] }, x, y);
      return;
    }
    const first = this.#first;
    if (!first || first.piece !== found.piece) {
      if (first) this.#refuse('Both borders must be of one cloth: this one is the first now.', x, y);
      this.#first = found;
    } else if (same(first.border, found.border)) {
      this.#refuse('This is the same border: click the one to sew it to, or press Esc.', x, y);
    } else {
      this.#sew(first, found, x, y);
    }
    this.#studio.viewport.invalidate();
  }

  /** Starts a seam; where that is refused, the first border goes on waiting for another one. */
  #sew(first: Chosen, second: Chosen, x: number, y: number): void {
    const { piece } = first;
    const sewn = pairs(piece, first.border, second.border);
    if (!hold(sheetOf(piece), sewn)) {
      const [a, b] = [first, second].map(({ border }) => new Set(border.path).size);
      this.#refuse(`The borders have ${a} and ${b} vertices: sewn, they would hang at single points. Click one with about as many, or press Esc.`, x, y);
      return;
    }
    // Not when it is answered: a second click would sew twice.
    this.#first = null;
    void this.#do(piece, { is: 'seam', pairs: sewn }, x, y).then((done) => {
      if (!done && !this.#first && this.#studio.tool.now === 'seam') this.#first = first;
      this.forget();
    });
  }

  /** Changes the radius of the brush by steps; whether there is a brush. */
  widen(steps: number): boolean {
    const tool = this.#studio.tool.now;
    if (tool !== 'size' && !(tool === 'erase' && options.erase.now.how === 'brush')) return false;
    const radius = Math.min(RADII[1], Math.max(RADII[0], options.brush.now.radius * 1.12 ** steps));
    options.brush.set({ ...options.brush.now, radius: Number(radius.toPrecision(3)) });
    this.#studio.viewport.invalidate();
    return true;
  }

  cancel(): void {
    this.#stroke = this.#first = null;
    this.#hush();
    this.#studio.viewport.invalidate();
  }

  /** Pieces may be others now: what was prepared on their faces is void. */
  forget(): void {
    const gone = (piece: Piece): boolean => !this.#studio.viewport.pieces.includes(piece);
    if (this.#first && gone(this.#first.piece)) this.#first = null;
    const stroke = this.#stroke;
    const lost = stroke?.is === 'brush' ? gone(stroke.piece) : stroke?.is === 'cut' && stroke.samples.some(({ hit }) => hit && gone(hit.piece));
    if (!lost) return;
    this.#stroke = null;
    this.#studio.say('info', 'The cloth changed under the tool: begin again.');
  }

  /** Before each picture: marks follow the cloth. Gives whether the pointer is on something that the tool can use. */
  before(hover: { x: number; y: number; touch: boolean } | null): boolean {
    const chalk = this.#chalk;
    chalk.clear();
    const tool = this.#studio.tool.now;
    if (!this.has(tool)) return false;
    const stroke = this.#stroke;
    if (stroke?.is === 'cut') chalk.draw('cut', lines(stroke.samples));
    if (stroke?.is === 'brush') chalk.draw('faces', triangles(stroke.piece, stroke.faces), true);
    if (this.#first) chalk.draw('first', [this.#first.border.path.map((v) => at(this.#first!.piece, v))]);
    if (!hover || (hover.touch && !stroke)) return false;
    if (tool === 'seam' || tool === 'fill') return this.#showBorder(hover.x, hover.y);
    const hit = this.#hit(hover.x, hover.y);
    if (!hit || tool === 'cut') return hit !== null;
    if (tool === 'erase' && !stroke) chalk.draw('faces', triangles(hit.piece, this.#under(hit)), true);
    if (tool === 'size' || options.erase.now.how === 'brush') chalk.draw('ring', [ring(hit, options.brush.now.radius)], true);
    return true;
  }

  #showBorder(x: number, y: number): boolean {
    const found = this.#border(x, y, false);
    if (!found) return false;
    const { piece, border } = found;
    const path = this.#studio.tool.now === 'fill' ? [...sheetOf(piece).loop(border.path[0]), border.path[0]] : border.path;
    this.#chalk.draw('border', [path.map((v) => at(piece, v))]);
    const first = this.#first;
    if (first?.piece === piece && !same(first.border, border)) {
      const sewn = pairs(piece, first.border, border);
      this.#chalk.draw(hold(sheetOf(piece), sewn) ? 'pairs' : 'misfits', sewn.map((pair) => pair.map((v) => at(piece, v))));
    }
    return true;
  }

  #hit(x: number, y: number): Hit | null {
    const hit = surface(this.#studio.viewport, x, y);
    return hit && isCloth(hit.piece) ? hit : null;
  }

  /** Scissors that have begun go on below what lies on the cloth. */
  #hitOf(piece: Piece | undefined, x: number, y: number): Hit | null {
    return piece ? surface(this.#studio.viewport, x, y, piece) : this.#hit(x, y);
  }

  #under(hit: Hit): number[] {
    const sheet = sheetOf(hit.piece);
    if (options.erase.now.how === 'piece') return sheet.whole(hit.face);
    return sheet.under(hit.face, hit.point.toArray(), options.brush.now.radius);
  }

  /** Adds a place to a stroke; where cloth begins or ends on the way to it, the border too. */
  #sample(samples: Sample[], x: number, y: number): void {
    const last = samples[samples.length - 1];
    const piece = samples.find(({ hit }) => hit)?.hit?.piece;
    const next = { x, y, hit: this.#hitOf(piece, x, y) };
    let [low, high]: Sample[] = [last, next];
    if (apart(last.hit, next.hit)) {
      for (let k = 0; k < 10; k += 1) {
        const [mx, my] = [(low.x + high.x) / 2, (low.y + high.y) / 2];
        const middle = { x: mx, y: my, hit: this.#hitOf(piece, mx, my) };
        if (apart(low.hit, middle.hit)) high = middle;
        else low = middle;
      }
      if (low.hit) samples.push({ ...low, hit: toBorder(low.hit) });
      else samples.push(low);
      if (high !== next) samples.push(high.hit ? { ...high, hit: toBorder(high.hit) } : high);
    }
    samples.push(next);
  }

  #cut(samples: Sample[], x: number, y: number): void {
    const run = runs(samples).sort((a, b) => b.length - a.length)[0] ?? [];
    const line = straightened(run);
    const piece = line[0]?.hit?.piece;
    if (line.length < 2 || !piece) {
      this.#refuse('Draw a line over the cloth: from border to border to cut it apart, inside to slit it.', x, y);
      return;
    }
    const hits = line.flatMap(({ hit }) => (hit ? [hit] : []));
    if (options.cut.now.how === 'line') {
      void this.#do(piece, { is: 'cut', line: hits.map(spot) }, x, y);
      return;
    }
    const path = edges(sheetOf(piece), hits);
    if (path.length < 2) this.#refuse('This line is shorter than an edge of the mesh: draw a longer one.', x, y);
    else void this.#do(piece, { is: 'slit', path }, x, y);
  }

  /** Works with the brush, once for each half of its radius that it has moved, and never on a mesh that is no more. */
  #resize(hit: Hit, x: number, y: number): void {
    const stroke = this.#stroke;
    const { radius, hardness } = options.brush.now;
    if (stroke?.is !== 'size' || hit.piece.info.mesh === stroke.mesh || hit.point.distanceTo(stroke.place) < radius / 2) return;
    stroke.mesh = hit.piece.info.mesh;
    stroke.place.copy(hit.point);
    const { way, strength, keep } = options.size.now;
    const factor = way === 'expand' ? strength : 1 / strength;
    void this.#do(hit.piece, { is: 'resize', at: spot(hit), radius, hardness, factor, keep }, x, y);
  }

  /** Does a job; whether it was done. */
  async #do(piece: Piece, job: Job, x: number, y: number): Promise<boolean> {
    if (this.#studio.scrubbing) {
      this.#refuse('This is a recorded frame: press Live (End) to change the cloth as it is now.', x, y);
      return false;
    }
    const { id: object, mesh } = piece.info;
    this.#studio.object.set(object);
    const { error, lost } = await this.#studio.connection.edit({ do: 'tailor', object, mesh, job });
    if (error && !lost) this.#refuse(error, x, y);
    return !error;
  }

  /** Says why not, where it was asked for. */
  #refuse(text: string, x: number, y: number): void {
    const box = this.#studio.viewport.canvas.getBoundingClientRect();
    this.#refusal.textContent = text.charAt(0).toUpperCase() + text.slice(1);
    this.#refusal.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.#refusal;
    const left = Math.min(Math.max(8, x - box.left + 14), box.width - width - 8);
    const top = Math.min(Math.max(8, y - box.top + 14), box.height - height - 8);
    this.#refusal.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#hush(), STAY);
  }

  #hush(): void {
    this.#refusal.hidden = true;
  }

  /** The border whose side is nearest on the screen. */
  #border(x: number, y: number, finger: boolean): Chosen | null {
    const { viewport } = this.#studio;
    let nearest = finger ? NEAR_FINGER : NEAR;
    let best: { piece: Piece; vertex: number } | null = null;
    for (const piece of viewport.pieces.filter(isCloth)) {
      const { next, apex } = sheetOf(piece);
      for (const [from, to] of next) {
        const [ax, ay, behind] = viewport.project(at(piece, from));
        const [bx, by, hidden] = viewport.project(at(piece, to));
        if (behind || hidden) continue;
        const [dx, dy] = [bx - ax, by - ay];
        const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
        let away = Math.hypot(ax + along * dx - x, ay + along * dy - y);
        if (away >= nearest) continue;
        // Both sides of a cut are in one place: the pointer means the one on whose cloth it is.
        const [cx, cy] = viewport.project(at(piece, apex.get(from) ?? from));
        if ((dx * (cy - ay) - dy * (cx - ax)) * (dx * (y - ay) - dy * (x - ax)) < 0) away += BESIDE;
        if (away < nearest) [nearest, best] = [away, { piece, vertex: from }];
      }
    }
    return best && { piece: best.piece, border: sheetOf(best.piece).border(best.vertex) };
  }
}

/** Whether two borders are one: closed ones may begin anywhere. */
function same(a: Border, b: Border): boolean {
  const own = new Set(a.path);
  return a.path.length === b.path.length && b.path.every((vertex) => own.has(vertex));
}

function spot({ face, weights }: Hit): Spot {
  return { face, weights };
}

/** Whether a line from one hit to the other leaves the part of the cloth it is on. */
function apart(a: Hit | null, b: Hit | null): boolean {
  if (!a || !b) return a !== b;
  return a.piece !== b.piece || sheetOf(a.piece).part[a.face] !== sheetOf(b.piece).part[b.face];
}

/** A hit beside a border, moved onto it. */
function toBorder(hit: Hit): Hit {
  const { across } = sheetOf(hit.piece);
  // A side is opposite to the corner that is not on it.
  const free = [0, 1, 2].filter((corner) => across[3 * hit.face + ((corner + 1) % 3)] < 0);
  if (free.length === 0) return hit;
  const off = free.reduce((best, corner) => (hit.weights[corner] < hit.weights[best] ? corner : best));
  const sum = 1 - hit.weights[off];
  const part = (k: number): number => (k === off ? 0 : hit.weights[k] / sum);
  return { ...hit, weights: [part(0), part(1), part(2)] };
}

/** Parts of a stroke that stay on one part of one cloth. */
function runs(samples: readonly Sample[]): Sample[][] {
  const found: Sample[][] = [];
  let last: Sample | null = null;
  for (const sample of samples) {
    if (sample.hit && last && !apart(last.hit, sample.hit)) found[found.length - 1].push(sample);
    else if (sample.hit) found.push([sample]);
    last = sample;
  }
  return found;
}

/** Only the points of a line that its shape on the screen needs (Ramer, Douglas and Peucker). */
function straightened(line: readonly Sample[]): Sample[] {
  if (line.length < 3) return [...line];
  const [a, b] = [line[0], line[line.length - 1]];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy);
  const away = ({ x, y }: Sample): number => (length > 0 ? Math.abs((x - a.x) * dy - (y - a.y) * dx) / length : Math.hypot(x - a.x, y - a.y));
  const most = line.reduce((best, sample, k) => (away(sample) > away(line[best]) ? k : best), 0);
  if (away(line[most]) <= STRAIGHTEN) return [a, b];
  return [...straightened(line.slice(0, most + 1)), ...straightened(line.slice(most)).slice(1)];
}

/** The way along edges that is nearest to a line. */
function edges(sheet: Sheet, hits: readonly Hit[]): number[] {
  const path = [hits[0].vertex];
  for (const { vertex } of hits.slice(1)) path.push(...sheet.along(path[path.length - 1], vertex).slice(1));
  return path;
}

function lines(samples: readonly Sample[]): Vector3[][] {
  return runs(samples).map((run) => run.flatMap(({ hit }) => (hit ? [place(hit)] : [])));
}

/** Where a point of cloth is now. */
function place({ piece, face, weights }: Hit): Vector3 {
  const sum = new Vector3();
  weights.forEach((weight, k) => sum.addScaledVector(at(piece, piece.faces[3 * face + k]), weight));
  return sum;
}

function* corners(piece: Piece, faces: Iterable<number>): Iterable<Vector3[]> {
  for (const face of faces) yield [0, 1, 2].map((k) => at(piece, piece.faces[3 * face + k]));
}

function triangles(piece: Piece, faces: Iterable<number>): Vector3[][] {
  return [...corners(piece, faces)];
}

/** A circle that lies on the face that is hit. */
function ring(hit: Hit, radius: number): Vector3[] {
  const [[a, b, c]] = corners(hit.piece, [hit.face]);
  const u = b.clone().sub(a).normalize();
  const v = u.clone().cross(c.clone().sub(a)).normalize().cross(u);
  return Array.from({ length: 48 }, (_, k) => {
    const angle = (k * Math.PI) / 24;
    return hit.point.clone().addScaledVector(u, radius * Math.cos(angle)).addScaledVector(v, radius * Math.sin(angle));
  });
}
