import { Vector3 } from 'three';
import { el } from './dom';
import { count } from './format';
import type { CertificateInfo } from './protocol';
import type { Studio } from './studio';

type State = 'good' | 'open' | 'bad' | 'none';

interface Verdict {
  state: State;
  short: string;
  long: string;
}

function judge(certificate: CertificateInfo | undefined): Verdict {
  if (!certificate) return { state: 'none', short: 'No verdict yet', long: 'The exact checker has seen no frame yet.' };
  const { pass, guaranteed, intersections, first, pinched } = certificate;
  if (!pass) {
    const more = intersections > 1 ? `${count(intersections)} pairs intersect; the first: ` : '';
    return { state: 'bad', short: first ?? `${count(intersections)} intersections`, long: `${more}${first ?? 'faces intersect'}. Press to see where.` };
  }
  const caught = pinched > 0 ? ` ${count(pinched)} pinched vertices are let through bodies.` : '';
  if (!guaranteed) {
    return { state: 'open', short: 'Not guaranteed', long: `Nothing intersects, but the guarantee is off: something may pass through.${caught}` };
  }
  if (pinched > 0) return { state: 'open', short: `${count(pinched)} pinched`, long: `Nothing intersects.${caught}` };
  return { state: 'good', short: 'Certified', long: 'Nothing intersects, by exact predicates, and nothing was let through.' };
}

/** The verdict of the exact checker on the newest frame; red ones lead to the place. */
export function lamp(studio: Studio): HTMLElement {
  const text = el('span', { class: 'lamp-text' });
  const node = el('button', { class: 'lamp', attrs: { type: 'button' } }, el('i', { attrs: { 'aria-hidden': 'true' } }), text);
  let before: State = 'none';
  studio.stats.watch((stats) => {
    const verdict = judge(stats?.certificate);
    node.dataset.state = verdict.state;
    text.textContent = verdict.short;
    node.title = verdict.long;
    node.setAttribute('aria-label', `Certificate: ${verdict.long}`);
    studio.viewport.markers.bad(stats?.certificate.pass === false ? stats.certificate.place : null);
    if (verdict.state === 'bad' && before !== 'bad') studio.say('error', `The cloth is not certified any more: ${verdict.short}`);
    before = verdict.state;
  });
  node.addEventListener('click', () => {
    const certificate = studio.stats.now?.certificate;
    if (certificate && !certificate.pass && certificate.place) {
      studio.viewport.rig.visit(new Vector3(...certificate.place), 0.35 * studio.viewport.bounds().getSize(new Vector3()).length());
    } else {
      studio.say('info', judge(certificate).long);
    }
  });
  return node;
}
