import { el } from '../dom';
import type { ContactPanel, SolverPanel } from '../protocol';
import type { Studio } from '../studio';
import { choice, section, slider, toggle } from '../widgets';

/** How things meet. */
export function contactPanel(studio: Studio): HTMLElement {
  let now: ContactPanel | null = null;
  const send = (next: Partial<ContactPanel>): void => {
    if (now) void studio.edit({ do: 'contact', ...now, ...next });
  };
  const gap = slider({ label: 'Gap', unit: 'mm', factor: 1e3, min: 0.1, max: 10, log: true, hint: 'Distance that surfaces keep', change: (value) => send({ gap: value }) });
  const self = slider({ label: 'Friction on cloth', unit: 'μ', min: 0, max: 1.5, change: (value) => send({ friction_cloth: value }) });
  const body = slider({ label: 'Friction on bodies', unit: 'μ', min: 0, max: 1.5, change: (value) => send({ friction_body: value }) });
  const cloth = toggle('Cloth meets cloth', (on) => send({ cloth: on }));
  const bodies = toggle('Cloth meets bodies', (on) => send({ bodies: on }));
  const guarantee = toggle('Guarantee: nothing passes through', (on) => send({ guarantee: on }));
  const warning = el('p', {
    class: 'warning',
    text: 'Without the guarantee fast or thin cloth may pass through. Once it has, it stays tangled: reset or undo to be certified again.',
  });
  studio.panels.watch((panels) => {
    if (!panels) return;
    now = panels.contact;
    gap.set(now.gap);
    self.set(now.friction_cloth);
    body.set(now.friction_body);
    cloth.set(now.cloth);
    bodies.set(now.bodies);
    guarantee.set(now.guarantee);
    warning.hidden = now.guarantee;
  });
  return section('Contact', false, gap.node, self.node, body.node, cloth.node, bodies.node, guarantee.node, warning);
}

/** How steps are solved. */
export function solverPanel(studio: Studio): HTMLElement {
  let now: SolverPanel | null = null;
  const send = (next: Partial<SolverPanel>): void => {
    if (now) void studio.edit({ do: 'solver', ...now, ...next });
  };
  const integrator = choice('Integrator', (value) => send({ integrator: value }));
  const substeps = slider({ label: 'Substeps', unit: '/frame', min: 1, max: 32, step: 1, change: (value) => send({ substeps: Math.max(1, Math.round(value)) }) });
  const show = (): void => {
    const names = studio.welcome.now?.integrators ?? [];
    integrator.fill(names.map((name) => ({ value: name, text: name })));
    now = studio.panels.now?.solver ?? null;
    if (!now) return;
    integrator.set(now.integrator);
    substeps.set(now.substeps);
  };
  studio.welcome.watch(show);
  studio.panels.watch(show);
  return section('Solver', false, integrator.node, substeps.node);
}
