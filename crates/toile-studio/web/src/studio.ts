import { Connection, type Outcome } from './connection';
import { decode, type Key } from './frames';
import type { Edit, Explanation, FromServer, Level, ObjectInfo, Panels, RoomInfo, SceneInfo, Stats } from './protocol';
import { Value } from './value';
import { NOTHING, type Shown } from './view/overlays';
import type { Viewport } from './view/viewport';

export type Tool = 'grab' | 'pin' | 'unpin' | 'drop' | 'wind' | 'explain' | 'cut' | 'size' | 'erase' | 'seam' | 'fill';
export type Welcome = Extract<FromServer, { say: 'welcome' }>;

export interface Change {
  tick: number;
  by: number;
  text: string;
}

export interface Note {
  level: Level;
  text: string;
}

/** The frame that is on the screen. */
export interface Head {
  tick: number;
  time: number;
  recorded: boolean;
}

const LONGEST_LOG = 400;

/** Everything the page knows, and how it hears of it. */
export class Studio {
  readonly welcome = new Value<Welcome | null>(null);
  readonly scene = new Value<SceneInfo | null>(null);
  readonly room = new Value<RoomInfo | null>(null);
  readonly panels = new Value<Panels | null>(null);
  readonly stats = new Value<Stats | null>(null);
  readonly changes = new Value<readonly Change[]>([]);
  readonly explanation = new Value<Explanation | null>(null);
  readonly head = new Value<Head | null>(null);
  readonly note = new Value<Note | null>(null);
  readonly tool = new Value<Tool>('grab');
  readonly shown = new Value<Shown>(NOTHING);
  /** The vertex that is asked about. */
  readonly chosen = new Value<{ object: number; vertex: number } | null>(null);
  /** The object that panels speak of. */
  readonly object = new Value<number | null>(null);
  readonly connection: Connection;
  readonly viewport: Viewport;

  #coming: SceneInfo | null = null;
  #asked = 0;

  constructor(connection: Connection, viewport: Viewport) {
    this.connection = connection;
    this.viewport = viewport;
    connection.onMessage = (message) => this.#hear(message);
    connection.onBinary = (data) => this.#see(data);
    viewport.onDrawn = (frame) => {
      connection.send({ say: 'ack', serial: frame.serial });
      this.head.set({ tick: frame.tick, time: frame.time, recorded: frame.recorded });
      this.#follow();
    };
    this.shown.watch((shown) => {
      viewport.show(shown);
      this.#show();
    });
    this.panels.watch((panels) => panels && viewport.settings(panels));
    this.chosen.watch((chosen) => {
      if (chosen) this.#ask();
      else this.explanation.set(null);
    });
  }

  /** The newest tick that is known. */
  get present(): number {
    return Math.max(this.room.now?.tick ?? 0, this.stats.now?.tick ?? 0, this.head.now?.tick ?? 0);
  }

  get scrubbing(): boolean {
    return this.head.now?.recorded ?? false;
  }

  /** Makes a change; says why if it was refused. */
  async edit(edit: Edit): Promise<Outcome> {
    const outcome = await this.connection.edit(edit);
    // A broken line is shown in the top bar already.
    if (outcome.error && !outcome.lost) this.say('error', outcome.error);
    return outcome;
  }

  say(level: Level, text: string): void {
    this.note.set({ level, text });
  }

  toggle(): void {
    this.connection.send({ say: this.room.now?.playing ? 'pause' : 'play' });
  }

  step(): void {
    this.live();
    this.connection.send({ say: 'step' });
  }

  live(): void {
    if (this.scrubbing) this.connection.send({ say: 'live' });
  }

  scrub(tick: number): void {
    this.connection.send({ say: 'scrub', tick });
  }

  /** Names of people by their number; those who left keep their number. */
  person(number: number): string {
    const name = this.room.now?.people.find(([n]) => n === number)?.[1] ?? `person ${number}`;
    return number === this.welcome.now?.you ? `${name} (you)` : name;
  }

  #hear(message: FromServer): void {
    switch (message.say) {
      case 'welcome':
        this.welcome.set(message);
        this.#show();
        break;
      case 'scene':
        this.#coming = message;
        break;
      case 'room':
        this.room.set(message);
        break;
      case 'panels':
        this.panels.set(message);
        break;
      case 'stats':
        this.stats.set(message);
        break;
      case 'logged':
        this.changes.set([...this.changes.now.slice(-LONGEST_LOG + 1), message]);
        break;
      case 'explanation':
        if (message.object === this.chosen.now?.object && message.vertex === this.chosen.now.vertex) {
          this.explanation.set(message);
        }
        break;
      case 'note':
        this.say(message.level, message.text);
        break;
      case 'edited':
        break;
    }
  }

  #see(data: ArrayBuffer): void {
    try {
      const geometry = decode(data);
      if (geometry.kind === 'key') this.#open(geometry);
      else if (geometry.revision === this.viewport.revision) this.viewport.take(geometry);
      // A frame that does not fit is done with: the server may send the next.
      else this.connection.send({ say: 'ack', serial: geometry.serial });
    } catch (error) {
      this.say('error', `geometry could not be read: ${String(error)}`);
    }
  }

  #open(key: Key): void {
    const info = this.#coming;
    if (!info || info.revision !== key.revision || info.objects.length !== key.objects.length) return;
    this.#coming = null;
    if (info.name !== this.scene.now?.name) {
      this.stats.set(null);
      this.chosen.set(null);
    }
    const meshOf = (objects: readonly ObjectInfo[] | undefined): number | undefined => objects?.find(({ id }) => id === this.chosen.now?.object)?.mesh;
    // The vertex that was asked about is gone, or has another number.
    if (this.chosen.now && meshOf(info.objects) !== meshOf(this.scene.now?.objects)) this.chosen.set(null);
    this.viewport.open(info, key);
    const known = (id: number | undefined): boolean => info.objects.some((object) => object.id === id);
    this.scene.set(info);
    if (!known(this.object.now ?? undefined)) {
      this.object.set(info.objects.find((object) => object.role === 'cloth')?.id ?? null);
    }
  }

  #show(): void {
    const { scalar, contacts } = this.shown.now;
    // Marks come with the faces.
    this.connection.send({ say: 'show', scalar: scalar === 'marks' ? 'none' : scalar, contacts });
  }

  /** While cloth moves, what was said of the chosen vertex grows old: ask again three times a second. */
  #follow(): void {
    if (this.chosen.now && !this.scrubbing && performance.now() - this.#asked > 330) this.#ask();
  }

  #ask(): void {
    const chosen = this.chosen.now;
    if (!chosen) return;
    this.#asked = performance.now();
    this.connection.send({ say: 'explain', ...chosen });
  }
}
