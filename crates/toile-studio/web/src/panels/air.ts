import { el } from '../dom';
import { digits } from '../format';
import { options } from '../options';
import type { Panels } from '../protocol';
import type { Studio } from '../studio';
import { button, section, slider } from '../widgets';
import { Dial } from './dial';

/** Wind and gravity. Wind is shown as a direction over the ground, a speed and a climb. */
export function airPanel(studio: Studio): HTMLElement {
  let wind: Panels['wind'] = { velocity: [0, 0, 0], gust: 0, frequency: 0 };
  const send = (next: Partial<Panels['wind']>): void => {
    wind = { ...wind, ...next };
    void studio.edit({ do: 'wind', ...wind });
  };
  const dial = new Dial((x, z) => send({ velocity: [x, wind.velocity[1], z] }));
  const speed = slider({
    label: 'Speed',
    unit: 'm/s',
    min: 0,
    max: 20,
    hint: 'Over the ground',
    change(value) {
      const [x, y, z] = wind.velocity;
      const now = Math.hypot(x, z);
      // Still air has no direction: it starts along +X.
      send({ velocity: now > 0 ? [(x * value) / now, y, (z * value) / now] : [value, y, 0] });
    },
  });
  const climb = slider({ label: 'Upward', unit: 'm/s', min: -10, max: 10, change: (y) => send({ velocity: [wind.velocity[0], y, wind.velocity[2]] }) });
  const gusts = slider({ label: 'Gusts', unit: 'm/s', min: 0, max: 10, hint: 'Strength of gusts', change: (gust) => send({ gust }) });
  const often = slider({ label: 'Gust rate', unit: 'Hz', min: 0, max: 5, change: (frequency) => send({ frequency }) });
  const blow = button({ icon: 'wind', text: 'Gust now', class: 'wide', label: 'One gust along the wind (G)', press: () => gustNow(studio) });
  const gravity = slider({
    label: 'Gravity, down',
    unit: 'm/s²',
    min: -5,
    max: 25,
    change: (down) => void studio.edit({ do: 'gravity', gravity: [0, -down, 0] }),
  });
  const worlds = el('div', { class: 'chips' });
  for (const [name, down] of [['Earth', 9.81], ['Moon', 1.62], ['None', 0]] as const) {
    const press = (): void => void studio.edit({ do: 'gravity', gravity: [0, -down, 0] });
    worlds.append(button({ text: name, label: `Gravity of ${digits(down)} m/s²`, class: 'chip', press }));
  }
  studio.panels.watch((panels) => {
    if (!panels) return;
    wind = panels.wind;
    dial.set(wind.velocity[0], wind.velocity[2]);
    speed.set(Math.hypot(wind.velocity[0], wind.velocity[2]));
    climb.set(wind.velocity[1]);
    gusts.set(wind.gust);
    often.set(wind.frequency);
    gravity.set(-panels.gravity[1]);
  });
  return section(
    'Wind & gravity',
    false,
    el('div', { class: 'dial-row' }, dial.node, el('div', { class: 'stack' }, speed.node, climb.node)),
    gusts.node,
    often.node,
    blow,
    gravity.node,
    worlds,
  );
}

/** A gust along the wind; in still air away from the viewer. */
export function gustNow(studio: Studio): void {
  const [x, y, z] = studio.panels.now?.wind.velocity ?? [0, 0, 0];
  const length = Math.hypot(x, y, z);
  const camera = studio.viewport.camera.matrixWorld.elements;
  const away = Math.hypot(camera[8], camera[10]) || 1;
  const [dx, dy, dz] = length > 0.01 ? [x / length, y / length, z / length] : [-camera[8] / away, 0, -camera[10] / away];
  const speed = Math.max(4, 1.5 * length);
  void studio.edit({ do: 'gust', velocity: [speed * dx, speed * dy, speed * dz], seconds: options.gust.now.seconds });
}
