import { Vector3 } from 'three';
import type { Panels, RoomInfo, SceneInfo, Stats } from './protocol';
import type { Hands, Holding } from './hands';
import type { Studio } from './studio';

/** What tests and curious people can ask of the page, as `window.toile`. */
export interface Surface {
  /** Whether the first frame was drawn. */
  readonly ready: boolean;
  /** Tick, time [s] and kind of the frame on the screen. */
  readonly tick: number;
  readonly time: number;
  readonly recorded: boolean;
  /** Frames drawn since the page was opened. */
  readonly drawn: number;
  readonly connected: boolean;
  readonly scene: SceneInfo | null;
  readonly room: RoomInfo | null;
  readonly panels: Panels | null;
  /** Figures of the newest frame, and the fingerprint among them. */
  readonly stats: Stats | null;
  readonly fingerprint: string | null;
  /** Places of an object's vertices by its id [m], three numbers each. */
  positions(object: number): number[];
  /** Faces of an object, three vertices each. */
  faces(object: number): number[];
  /** What refinement did to each face of an object: 0 nothing, 1 split, 2 split and put back; nothing at all if it did nothing. */
  marks(object: number): number[];
  /** Where a place is on the page [CSS px]. */
  project(x: number, y: number, z: number): [number, number];
  /** The vertex that explanations speak of. */
  readonly chosen: { object: number; vertex: number } | null;
  /** What this page's hands hold, and where they are. */
  readonly hands: Holding[];
}

declare global {
  interface Window {
    toile: Surface;
  }
}

export function expose(studio: Studio, hands: Hands): void {
  const { viewport } = studio;
  window.toile = {
    get ready() {
      return viewport.drawn > 0;
    },
    get tick() {
      return studio.head.now?.tick ?? 0;
    },
    get time() {
      return studio.head.now?.time ?? 0;
    },
    get recorded() {
      return studio.scrubbing;
    },
    get drawn() {
      return viewport.drawn;
    },
    get connected() {
      return studio.connection.link.now.is === 'open';
    },
    get scene() {
      return studio.scene.now;
    },
    get room() {
      return studio.room.now;
    },
    get panels() {
      return studio.panels.now;
    },
    get stats() {
      return studio.stats.now;
    },
    get fingerprint() {
      return studio.stats.now?.fingerprint ?? null;
    },
    get chosen() {
      return studio.chosen.now;
    },
    get hands() {
      return hands.holding;
    },
    positions: (object) => Array.from(viewport.piece(object)?.positions ?? []),
    faces: (object) => Array.from(viewport.piece(object)?.faces ?? []),
    marks: (object) => Array.from(viewport.piece(object)?.marks ?? []),
    project: (x, y, z) => {
      const [px, py] = viewport.project(new Vector3(x, y, z));
      return [px, py];
    },
  };
}
