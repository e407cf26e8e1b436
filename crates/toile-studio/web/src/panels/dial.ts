import { el } from '../dom';
import { digits } from '../format';

const SIZE = 84;
/** Speed at the rim [m/s]. */
const RIM = 20;

/** An arrow on a disc seen from above: X to the right, Z towards the reader. Near the middle is finer. */
export class Dial {
  readonly node: HTMLCanvasElement;
  readonly #change: (x: number, z: number) => void;
  #x = 0;
  #z = 0;
  #held = false;

  constructor(change: (x: number, z: number) => void) {
    this.#change = change;
    const ratio = Math.min(2, devicePixelRatio);
    this.node = el('canvas', {
      class: 'dial',
      attrs: { tabindex: '0', role: 'slider', 'aria-label': 'Direction of the wind, arrow keys turn it', 'aria-valuemin': '0', 'aria-valuemax': '360' },
    });
    this.node.width = this.node.height = SIZE * ratio;
    this.node.addEventListener('pointerdown', (event) => {
      this.node.setPointerCapture(event.pointerId);
      this.#held = true;
      this.#point(event);
    });
    this.node.addEventListener('pointermove', (event) => this.#held && this.#point(event));
    this.node.addEventListener('pointerup', () => {
      if (this.#held) this.#change(this.#x, this.#z);
      this.#held = false;
    });
    this.node.addEventListener('keydown', (event) => this.#key(event));
    new MutationObserver(() => this.#draw()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    this.#draw();
  }

  set(x: number, z: number): void {
    if (this.#held) return;
    [this.#x, this.#z] = [x, z];
    this.#draw();
  }

  #point(event: PointerEvent): void {
    const box = this.node.getBoundingClientRect();
    const dx = ((event.clientX - box.left) / box.width) * 2 - 1;
    const dz = ((event.clientY - box.top) / box.height) * 2 - 1;
    const r = Math.hypot(dx, dz);
    const speed = r < 0.12 ? 0 : Math.round(RIM * Math.min(1, r) ** 2 * 10) / 10;
    [this.#x, this.#z] = speed === 0 ? [0, 0] : [(speed * dx) / r, (speed * dz) / r];
    this.#draw();
  }

  #key(event: KeyboardEvent): void {
    const turn = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (turn === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const angle = Math.atan2(this.#z, this.#x) + (turn * Math.PI) / 12;
    const speed = Math.hypot(this.#x, this.#z);
    [this.#x, this.#z] = [speed * Math.cos(angle), speed * Math.sin(angle)];
    this.#draw();
    this.#change(this.#x, this.#z);
  }

  #draw(): void {
    const pen = this.node.getContext('2d');
    if (!pen) return;
    const style = getComputedStyle(document.documentElement);
    const ink = (name: string): string => style.getPropertyValue(name).trim() || '#888';
    const scale = this.node.width / SIZE;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, SIZE, SIZE);
    pen.translate(SIZE / 2, SIZE / 2);
    const rim = SIZE / 2 - 2;
    pen.lineWidth = 1;
    for (const part of [1, 0.66, 0.33]) {
      pen.beginPath();
      pen.arc(0, 0, rim * part, 0, 2 * Math.PI);
      pen.fillStyle = ink('--field');
      if (part === 1) pen.fill();
      pen.strokeStyle = ink('--line');
      pen.stroke();
    }
    const speed = Math.hypot(this.#x, this.#z);
    const angle = Math.atan2(this.#z, this.#x);
    const degrees = Math.round(((angle * 180) / Math.PI + 360) % 360);
    this.node.setAttribute('aria-valuenow', String(degrees));
    this.node.setAttribute('aria-valuetext', `${degrees}° from X, ${digits(speed, 2)} m/s`);
    pen.fillStyle = pen.strokeStyle = ink('--accent');
    if (speed === 0) {
      pen.beginPath();
      pen.arc(0, 0, 3, 0, 2 * Math.PI);
      pen.fill();
      return;
    }
    const length = rim * Math.max(0.25, Math.min(1, Math.sqrt(speed / RIM)));
    pen.rotate(angle);
    pen.lineWidth = 2.5;
    pen.lineCap = 'round';
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(length - 7, 0);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(length, 0);
    pen.lineTo(length - 10, 5);
    pen.lineTo(length - 10, -5);
    pen.fill();
  }
}
