import { Box3, PerspectiveCamera, Scene, Sphere, SRGBColorSpace, Vector2, Vector3, WebGLRenderer } from 'three';
import type { Frame, Key } from '../frames';
import type { Panels, SceneInfo } from '../protocol';
import { Markers } from './markers';
import { NOTHING, Overlays, type Shown } from './overlays';
import { Piece } from './piece';
import { Rig } from './rig';
import { STAGE, Stage, type StageColours } from './stage';

const VIEW = { yaw: 0.62, pitch: 0.3 };

/** The picture of the scene. Draws only when something has changed. */
export class Viewport {
  readonly canvas: HTMLCanvasElement;
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 100);
  readonly rig: Rig;
  readonly markers = new Markers();
  readonly overlays = new Overlays();
  pieces: Piece[] = [];
  /** Revision of the key that is shown, 0 if none. */
  revision = 0;
  frame: Frame | null = null;
  drawn = 0;
  panels: Panels | null = null;
  /** Called with every frame after it was drawn. */
  onDrawn: (frame: Frame) => void = () => {};
  /** Called before each picture: hands and arrows follow the cloth. */
  onBefore: () => void = () => {};

  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #stage: Stage;
  #colours: StageColours = STAGE.dark;
  #shown: Shown = NOTHING;
  #pending: Frame[] = [];
  #stale: Piece[] = [];
  #asked = 0;
  #size = new Vector2(1, 1);
  /** Where the view begins on the page: asking the browser for each of thousands of vertices is slow. */
  readonly #corner = new Vector2();
  readonly #scratch = new Vector3();
  #name = '';

  constructor(canvas: HTMLCanvasElement, cheap: boolean) {
    this.canvas = canvas;
    this.#renderer = new WebGLRenderer({ canvas, antialias: !cheap, alpha: true, powerPreference: 'high-performance' });
    this.#renderer.outputColorSpace = SRGBColorSpace;
    this.#renderer.setPixelRatio(cheap ? 1 : Math.min(2, devicePixelRatio));
    this.#stage = new Stage(this.#renderer, this.#scene, !cheap);
    this.#scene.add(this.overlays.group, this.markers.group);
    this.rig = new Rig(this.camera, () => this.invalidate());
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement ?? canvas);
    this.#resize();
  }

  get size(): Vector2 {
    return this.#size;
  }

  theme(name: 'dark' | 'light'): void {
    this.#colours = STAGE[name];
    this.#stage.colours(this.#colours, name === 'dark');
    this.#decorate();
  }

  show(shown: Shown): void {
    this.#shown = shown;
    this.#stage.gridVisible = shown.grid;
    this.#decorate();
  }

  settings(panels: Panels): void {
    this.panels = panels;
    this.#decorate();
  }

  /** Shows what a key says. What stayed the same stays; what goes is let go after the next picture, for new cloth uses its shaders. */
  open(info: SceneInfo, key: Key): void {
    const before = new Set(this.pieces);
    const count = this.pieces.length;
    this.pieces = info.objects.map((object, k) => {
      const known = this.piece(object.id);
      if (!known?.fits(object, key.objects[k])) return new Piece(object, key.objects[k]);
      before.delete(known);
      known.info = object;
      known.move(key.objects[k].positions, null);
      return known;
    });
    for (const piece of before) this.#scene.remove(...piece.parts);
    this.#stale.push(...before);
    for (const piece of this.pieces) this.#scene.add(...piece.parts);
    this.revision = key.revision;
    for (const late of this.#pending) this.onDrawn(late);
    this.#pending = [];
    this.frame = null;
    // Lights and ground stay where they are while cloth is cut.
    if (info.name !== this.#name || this.pieces.length !== count) {
      this.#stage.fit(this.bounds().getBoundingSphere(new Sphere()), info.ground);
    }
    if (info.name !== this.#name) this.rig.frame(this.#prospect(info.ground), VIEW, false);
    this.#name = info.name;
    this.#renderer.shadowMap.needsUpdate = true;
    this.#decorate();
  }

  /** Takes a frame; it is drawn with the next picture. */
  take(frame: Frame): void {
    this.#pending.push(frame);
    this.invalidate();
  }

  invalidate(): void {
    if (!this.#asked) this.#asked = requestAnimationFrame((now) => this.#draw(now));
  }

  piece(id: number): Piece | undefined {
    return this.pieces.find((piece) => piece.info.id === id);
  }

  vertex(id: number, vertex: number): Vector3 | null {
    const p = this.piece(id)?.positions;
    return p && 3 * vertex + 2 < p.length ? new Vector3().fromArray(p, 3 * vertex) : null;
  }

  /** The box of all objects, or of one. Bodies much larger than the cloth do not count. */
  bounds(id?: number): Box3 {
    const one = id === undefined ? undefined : this.piece(id);
    if (one) return boxOf([one]);
    const cloth = boxOf(this.pieces.filter((piece) => piece.info.role === 'cloth'));
    const reach = cloth.isEmpty() ? Infinity : 3 * cloth.getSize(new Vector3()).length();
    return boxOf(this.pieces.filter((piece) => boxOf([piece]).getSize(new Vector3()).length() <= reach));
  }

  /** What the first view should hold: cloth that lies flat will hang down. */
  #prospect(ground: number | null): Box3 {
    const box = this.bounds();
    const size = box.getSize(new Vector3());
    const wide = Math.min(size.x, size.z);
    if (size.y < 0.3 * wide) box.min.y = Math.max(ground ?? -Infinity, box.min.y - 0.8 * wide);
    return box;
  }

  frameAll(): void {
    this.rig.frame(this.bounds());
  }

  home(): void {
    this.rig.frame(this.bounds(), VIEW);
  }

  /** Where a place is on the page [CSS px], and whether it is behind the camera. */
  project(place: Vector3): [number, number, boolean] {
    const at = this.#scratch.copy(place).applyMatrix4(this.camera.matrixWorldInverse);
    const behind = at.z > 0;
    at.applyMatrix4(this.camera.projectionMatrix);
    const { x, y } = this.#corner;
    return [x + ((at.x + 1) / 2) * this.#size.x, y + ((1 - at.y) / 2) * this.#size.y, behind];
  }

  /** Draws at once and gives the picture. */
  async picture(): Promise<Blob> {
    this.#render();
    const sheet = document.createElement('canvas');
    sheet.width = this.canvas.width;
    sheet.height = this.canvas.height;
    const pen = sheet.getContext('2d');
    if (!pen) throw new Error('this browser gives no canvas');
    const shade = pen.createLinearGradient(0, 0, 0, sheet.height);
    shade.addColorStop(0, this.#colours.top);
    shade.addColorStop(1, this.#colours.bottom);
    pen.fillStyle = shade;
    pen.fillRect(0, 0, sheet.width, sheet.height);
    pen.drawImage(this.canvas, 0, 0);
    return await new Promise((resolve, reject) => {
      sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is empty'))), 'image/png');
    });
  }

  #draw(now: number): void {
    this.#asked = 0;
    const flying = this.rig.tick(now);
    const done = this.#pending;
    this.#pending = [];
    const newest = done.at(-1);
    if (newest) {
      this.#apply(newest);
      this.#renderer.shadowMap.needsUpdate = true;
    }
    this.onBefore();
    this.#render();
    // Frames that a newer one overtook are done with as well.
    for (const frame of done) this.onDrawn(frame);
    if (newest) this.drawn += 1;
    if (flying) this.invalidate();
  }

  #render(): void {
    this.camera.updateMatrixWorld();
    this.markers.face(this.camera);
    this.#renderer.render(this.#scene, this.camera);
    for (const piece of this.#stale) piece.dispose();
    this.#stale = [];
  }

  #apply(frame: Frame): void {
    this.frame = frame;
    for (const moved of frame.objects) this.pieces[moved.index]?.move(moved.positions, moved.scalar);
    const values = frame.objects.map((moved) => (this.pieces[moved.index]?.info.role === 'cloth' ? moved.scalar : null));
    if (this.#shown.scalar === 'none' || values.some((list) => list !== null)) {
      this.overlays.rescale(this.#shown.scalar, values);
    }
    this.overlays.update(this.pieces, this.#shown, this.panels, frame.contacts, this.#colours.wire);
  }

  #decorate(): void {
    const { scalar } = this.#shown;
    if (scalar === 'none' || scalar === 'marks') this.overlays.rescale(scalar, []);
    this.overlays.update(this.pieces, this.#shown, this.panels, this.frame?.contacts ?? null, this.#colours.wire);
    this.invalidate();
  }

  #resize(): void {
    const box = (this.canvas.parentElement ?? this.canvas).getBoundingClientRect();
    const [width, height] = [Math.max(1, Math.round(box.width)), Math.max(1, Math.round(box.height))];
    this.#size.set(width, height);
    this.#corner.set(box.left, box.top);
    this.#renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }
}

function boxOf(pieces: readonly Piece[]): Box3 {
  const box = new Box3();
  const point = new Vector3();
  for (const { positions } of pieces) {
    for (let k = 0; k < positions.length; k += 3) box.expandByPoint(point.fromArray(positions, k));
  }
  return box;
}
