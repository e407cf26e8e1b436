import { Box3, type PerspectiveCamera, Quaternion, Spherical, Vector3 } from 'three';

/** A camera that goes round a point. Moves at once when led by a hand, flies when sent. */
export class Rig {
  readonly target = new Vector3();
  readonly #ball = new Spherical(3, 1.2, 0.6);
  readonly #camera: PerspectiveCamera;
  readonly #changed: () => void;
  #flight: { from: Spherical; to: Spherical; start: Vector3; end: Vector3; began: number } | null = null;
  #size = 1;

  constructor(camera: PerspectiveCamera, changed: () => void) {
    this.#camera = camera;
    this.#changed = changed;
    this.place();
  }

  get distance(): number {
    return this.#ball.radius;
  }

  orbit(dx: number, dy: number): void {
    this.#flight = null;
    this.#ball.theta -= 0.006 * dx;
    this.#ball.phi = Math.min(Math.PI - 0.02, Math.max(0.02, this.#ball.phi - 0.006 * dy));
    this.place();
  }

  /** Moves by pixels of a view that is `height` pixels high. */
  pan(dx: number, dy: number, height: number): void {
    this.#flight = null;
    const metres = this.metresPerPixel(height);
    const right = new Vector3().setFromMatrixColumn(this.#camera.matrix, 0);
    const up = new Vector3().setFromMatrixColumn(this.#camera.matrix, 1);
    this.target.addScaledVector(right, -dx * metres).addScaledVector(up, dy * metres);
    this.place();
  }

  zoom(factor: number): void {
    this.#flight = null;
    this.#ball.radius = Math.min(60 * this.#size, Math.max(0.01 * this.#size, this.#ball.radius * factor));
    this.place();
  }

  /** How far a pixel reaches at the target. */
  metresPerPixel(height: number): number {
    return (2 * this.#ball.radius * Math.tan((this.#camera.fov * Math.PI) / 360)) / height;
  }

  /** Sees the whole of a box, from where it is or from a given direction. */
  frame(box: Box3, direction?: { yaw: number; pitch: number }, fly = true): void {
    if (box.isEmpty()) return;
    const size = box.getSize(new Vector3()).length();
    this.#size = Math.max(size, 0.05);
    const aspect = Math.min(1, this.#camera.aspect);
    const radius = (0.5 * this.#size) / Math.sin((this.#camera.fov * Math.PI) / 360) / aspect;
    const to = this.#ball.clone();
    to.radius = radius;
    if (direction) {
      to.theta = direction.yaw;
      to.phi = Math.PI / 2 - direction.pitch;
    }
    this.fly(box.getCenter(new Vector3()), to, fly);
  }

  /** Goes to a place and near it. */
  visit(place: Vector3, distance: number): void {
    const to = this.#ball.clone();
    to.radius = distance;
    this.fly(place, to, true);
  }

  private fly(end: Vector3, to: Spherical, fly: boolean): void {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (!fly || still) {
      this.#flight = null;
      this.target.copy(end);
      this.#ball.copy(to);
      this.place();
      return;
    }
    this.#flight = { from: this.#ball.clone(), to, start: this.target.clone(), end, began: performance.now() };
    this.#changed();
  }

  /** Goes on with a flight; says whether it is not over. */
  tick(now: number): boolean {
    const flight = this.#flight;
    if (!flight) return false;
    const part = Math.min(1, (now - flight.began) / 420);
    const eased = 1 - (1 - part) ** 3;
    this.target.lerpVectors(flight.start, flight.end, eased);
    this.#ball.radius = flight.from.radius * (flight.to.radius / flight.from.radius) ** eased;
    this.#ball.theta = flight.from.theta + eased * (flight.to.theta - flight.from.theta);
    this.#ball.phi = flight.from.phi + eased * (flight.to.phi - flight.from.phi);
    if (part >= 1) this.#flight = null;
    this.place();
    return part < 1;
  }

  private place(): void {
    const camera = this.#camera;
    camera.position.setFromSpherical(this.#ball).add(this.target);
    camera.quaternion.copy(new Quaternion());
    camera.lookAt(this.target);
    // As far as can be: depths of a millimetre must be told apart.
    camera.near = Math.max(0.001, 0.03 * this.#ball.radius);
    camera.far = this.#ball.radius + 80 * this.#size;
    camera.updateProjectionMatrix();
    camera.updateMatrix();
    camera.updateMatrixWorld();
    this.#changed();
  }
}
