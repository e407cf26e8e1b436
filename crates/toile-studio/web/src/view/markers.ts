import {
  BoxGeometry,
  BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  type PerspectiveCamera,
  Quaternion,
  RingGeometry,
  SphereGeometry,
  Vector3,
} from 'three';
import type { Dropped } from '../protocol';
import type { Vector } from '../vector';
import { Dots, Lines } from './dots';

const UP = new Vector3(0, 1, 0);

/** An arrow of unit length along +Y, made longer by scaling its shaft only. */
class Arrow {
  readonly group = new Group();
  readonly #shaft: Mesh;
  readonly #tip: Mesh;

  constructor(colour: string) {
    const material = new MeshBasicMaterial({ color: colour, depthTest: false, transparent: true });
    this.#shaft = new Mesh(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material);
    this.#tip = new Mesh(new ConeGeometry(1, 1, 14).translate(0, 0.5, 0), material);
    this.#shaft.renderOrder = this.#tip.renderOrder = 8;
    this.group.add(this.#shaft, this.#tip);
  }

  set(from: Vector3, along: Vector3, width: number): void {
    const length = along.length();
    this.group.visible = length > width * 0.5;
    if (!this.group.visible) return;
    this.group.position.copy(from);
    this.group.quaternion.copy(new Quaternion().setFromUnitVectors(UP, along.clone().normalize()));
    const head = Math.min(length * 0.6, 7 * width);
    this.#shaft.scale.set(width, length - head, width);
    this.#tip.scale.set(2.6 * width, head, 2.6 * width);
    this.#tip.position.y = length - head;
  }

  dispose(): void {
    this.#shaft.geometry.dispose();
    this.#tip.geometry.dispose();
    (this.#shaft.material as MeshBasicMaterial).dispose();
  }
}

/** Things that are not in the scene: hands, the vertex asked about, a bad place, what is about to be dropped. */
export class Markers {
  readonly group = new Group();
  readonly #hands = new Dots('#4f8cff', 14, true);
  readonly #threads = new Lines('#4f8cff', true);
  readonly #hover = new Dots('#ffffff', 8, true);
  readonly #chosen = new Dots('#ffd166', 13, true);
  readonly #ring: Mesh<RingGeometry, MeshBasicMaterial>;
  readonly #ghost: Mesh<BufferGeometry, MeshBasicMaterial>;
  readonly #forces = new Group();
  readonly #wind = new Arrow('#58b4ff');
  #arrows: Arrow[] = [];

  constructor() {
    const red = new MeshBasicMaterial({ color: '#ff4d4f', depthTest: false, transparent: true, side: 2 });
    this.#ring = new Mesh(new RingGeometry(0.82, 1, 48), red);
    this.#ring.renderOrder = 9;
    this.#ring.visible = false;
    this.#ghost = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ color: '#4f8cff', transparent: true, opacity: 0.35, depthWrite: false }));
    this.#ghost.visible = false;
    this.#wind.group.visible = false;
    const dots = [this.#hands.points, this.#threads.lines, this.#hover.points, this.#chosen.points];
    this.group.add(...dots, this.#ring, this.#ghost, this.#forces, this.#wind.group);
  }

  /** Pairs of places: a vertex and the hand that pulls it. */
  hands(pairs: readonly [Vector3, Vector3][]): void {
    this.#hands.set(new Float32Array(pairs.flatMap(([, hand]) => hand.toArray())));
    this.#threads.set(new Float32Array(pairs.flatMap(([vertex, hand]) => [...vertex.toArray(), ...hand.toArray()])));
  }

  hover(place: Vector3 | null): void {
    this.#hover.set(new Float32Array(place ? place.toArray() : []));
  }

  chosen(place: Vector3 | null): void {
    this.#chosen.set(new Float32Array(place ? place.toArray() : []));
  }

  bad(place: Vector | null): void {
    this.#ring.visible = place !== null;
    if (place) this.#ring.position.set(...place);
  }

  ghost(what: { form: Dropped; size: number; at: Vector3 } | null): void {
    this.#ghost.visible = what !== null;
    if (!what) return;
    const name = `${what.form} ${what.size}`;
    if (this.#ghost.name !== name) {
      this.#ghost.geometry.dispose();
      this.#ghost.geometry =
        what.form === 'ball' ? new SphereGeometry(what.size / 2, 32, 20) : new BoxGeometry(what.size, what.size, what.size);
      this.#ghost.name = name;
    }
    this.#ghost.position.copy(what.at);
  }

  wind(from: Vector3 | null, along?: Vector3, width = 0.01): void {
    this.#wind.group.visible = false;
    if (from && along) this.#wind.set(from, along, width);
  }

  /** Forces at a vertex; the longest arrow gets the given length. */
  forces(place: Vector3 | null, forces: readonly { colour: string; force: Vector3 }[], length: number): void {
    for (const arrow of this.#arrows) {
      this.#forces.remove(arrow.group);
      arrow.dispose();
    }
    this.#arrows = [];
    const largest = Math.max(...forces.map(({ force }) => force.length()));
    if (!place || !(largest > 0)) return;
    for (const { colour, force } of forces) {
      const arrow = new Arrow(colour);
      arrow.set(place, force.clone().multiplyScalar(length / largest), length * 0.018);
      this.#arrows.push(arrow);
      this.#forces.add(arrow.group);
    }
  }

  /** The ring faces the viewer and stays of a size on the screen. */
  face(camera: PerspectiveCamera): void {
    if (!this.#ring.visible) return;
    this.#ring.quaternion.copy(camera.quaternion);
    this.#ring.scale.setScalar(0.035 * camera.position.distanceTo(this.#ring.position));
  }
}
