import { Vector3 } from 'three';
import { roomName } from './connection';
import { el } from './dom';
import { count, digits } from './format';
import type { Role } from './protocol';
import type { Studio } from './studio';
import { button, dialog, segments, slider } from './widgets';

/** The server's answer to a mesh. */
interface Sent {
  id: string;
}

/** Lengths that people mean by a number in a file that does not say [m]. */
const UNITS = [
  { value: '1', text: 'm' },
  { value: '0.01', text: 'cm' },
  { value: '0.001', text: 'mm' },
] as const;

/** Brings an OBJ file of the person's into the room, by button or by dropping it on the page. */
export function importer(studio: Studio): () => void {
  const file = el('input', { attrs: { type: 'file', accept: '.obj,model/obj', 'aria-hidden': 'true', tabindex: '-1' } });
  file.hidden = true;
  const name = el('strong', { class: 'file-name' });
  const facts = el('p', { class: 'hint' });
  let text = '';
  let size = 1;
  let role: Role = 'body';
  let unit: (typeof UNITS)[number]['value'] = '1';
  let grow = 1;

  const scale = (): number => Number(unit) * grow;
  const describe = (): void => {
    facts.textContent = `${count(lines(text, 'v '))} vertices, ${count(lines(text, 'f '))} faces; ${digits(100 * size * scale(), 3)} cm across as it comes in.`;
  };
  const roles = segments<Role>('What it becomes', [{ value: 'body', text: 'Body' }, { value: 'cloth', text: 'Cloth' }], (value) => {
    role = value;
    roles.set(value);
  });
  const units = segments<(typeof UNITS)[number]['value']>('Unit of the file', UNITS, (value) => {
    unit = value;
    units.set(value);
    describe();
  });
  const factor = slider({
    label: 'Scale',
    unit: '×',
    min: 0.1,
    max: 10,
    log: true,
    change(value) {
      grow = value;
      describe();
    },
  });
  const go = button({ icon: 'upload', text: 'Import', class: 'primary', press: () => void send() });
  const node = dialog(
    'Import a mesh',
    name,
    facts,
    el('div', { class: 'field inline' }, el('span', { text: 'It becomes' }), roles.node),
    el('div', { class: 'field inline' }, el('span', { text: 'Unit of the file' }), units.node),
    factor.node,
    el('div', { class: 'dialog-foot' }, button({ text: 'Cancel', press: () => node.close() }), go),
  );
  node.classList.add('narrow');

  const take = async (chosen: File): Promise<void> => {
    if (!/\.obj$/i.test(chosen.name)) {
      studio.say('error', `${chosen.name} is not an OBJ file: export it as .obj and drop that.`);
      return;
    }
    text = await chosen.text();
    size = extent(text);
    if (!(size > 0)) {
      studio.say('error', `${chosen.name} has no vertices: an OBJ file lists them in lines that begin with v.`);
      return;
    }
    // People and clothes are neither ants nor towers: the likeliest unit brings it nearest to a metre.
    unit = UNITS.reduce((best, one) => (away(size * Number(one.value)) < away(size * Number(best.value)) ? one : best)).value;
    grow = 1;
    name.textContent = chosen.name;
    roles.set(role);
    units.set(unit);
    factor.set(1);
    describe();
    node.showModal();
  };

  const send = async (): Promise<void> => {
    go.disabled = true;
    try {
      const answer = await fetch(`/api/meshes?room=${encodeURIComponent(roomName())}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: text,
      });
      if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
      const { id } = (await answer.json()) as Sent;
      const box = studio.viewport.bounds();
      const at = box.isEmpty() ? new Vector3() : box.getCenter(new Vector3());
      // Above everything, so that it does not start inside something.
      if (!box.isEmpty()) at.y = box.max.y + 0.6 * size * scale();
      const outcome = await studio.edit({ do: 'import', mesh: id, role, at: [at.x, at.y, at.z], scale: scale() });
      if (!outcome.error) node.close();
    } catch (error) {
      studio.say('error', `The mesh was not taken: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      go.disabled = false;
    }
  };

  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen) void take(chosen);
    file.value = '';
  });
  const veil = el('div', { class: 'veil' }, el('span', { text: 'Drop an OBJ file to bring it into the room' }));
  veil.hidden = true;
  document.body.append(file, veil);
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    veil.hidden = true;
    const dropped = event.dataTransfer?.files[0];
    if (dropped) void take(dropped);
  });
  return () => file.click();
}

const away = (metres: number): number => Math.abs(Math.log(metres / 0.6));

function lines(text: string, begin: string): number {
  return text.split('\n').filter((line) => line.startsWith(begin)).length;
}

/** The diagonal of a file's box, in its own unit. */
function extent(text: string): number {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const line of text.split('\n')) {
    if (!line.startsWith('v ')) continue;
    const place = line.trim().split(/\s+/).slice(1, 4).map(Number);
    for (let axis = 0; axis < 3; axis += 1) {
      low[axis] = Math.min(low[axis], place[axis]);
      high[axis] = Math.max(high[axis], place[axis]);
    }
  }
  return Math.hypot(...high.map((value, axis) => value - low[axis]));
}
