import { type Child, el, memory, unique } from './dom';
import { type Icon, icon } from './icons';

export interface ButtonLook {
  icon?: Icon;
  text?: string;
  label?: string;
  class?: string;
  press: () => void;
}

export function button(look: ButtonLook): HTMLButtonElement {
  const node = el('button', { class: `button ${look.class ?? ''}`, attrs: { type: 'button' }, on: { click: look.press } });
  if (look.icon) node.append(icon(look.icon));
  if (look.text) node.append(el('span', { text: look.text }));
  if (look.label) {
    node.setAttribute('aria-label', look.label);
    node.title = look.label;
  }
  return node;
}

/** A part of a panel that folds, and stays as it was left. */
export function section(name: string, open: boolean, ...children: Child[]): HTMLDetailsElement {
  const body = el('div', { class: 'section-body' }, ...children);
  const node = el('details', { class: 'section' }, el('summary', {}, icon('chevron'), el('span', { text: name })), body);
  node.open = (memory.get(`open.${name}`) ?? String(open)) === 'true';
  node.addEventListener('toggle', () => memory.set(`open.${name}`, String(node.open)));
  return node;
}

export interface SliderLook {
  label: string;
  unit: string;
  /** Ends in the unit that is shown. */
  min: number;
  max: number;
  step?: number;
  /** Shown value for one SI unit. */
  factor?: number;
  /** Equal steps are equal ratios. */
  log?: boolean;
  hint?: string;
  change: (si: number) => void;
}

export interface Slider {
  node: HTMLElement;
  set: (si: number) => void;
  enable: (on: boolean) => void;
}

const STEPS = 400;
/** Values that come within this time [ms] are one change. */
const DEBOUNCE = 160;

/** A slider with a number field: both show the same, a change is sent when the hand rests. */
export function slider(look: SliderLook): Slider {
  const factor = look.factor ?? 1;
  const id = unique('field');
  const low = look.log ? Math.log(look.min) : look.min;
  const high = look.log ? Math.log(look.max) : look.max;
  const range = el('input', {
    attrs: { type: 'range', min: '0', max: String(STEPS), step: '1', 'aria-label': `${look.label}, slider`, tabindex: '-1' },
  });
  const field = el('input', {
    class: 'number',
    id,
    attrs: { type: 'text', inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false' },
  });
  let timer = 0;
  let held = false;
  let last = NaN;
  const toRange = (value: number): number =>
    Math.round((STEPS * ((look.log ? Math.log(Math.max(value, 1e-300)) : value) - low)) / (high - low));
  const fromRange = (): number => {
    const at = low + ((high - low) * Number(range.value)) / STEPS;
    const value = look.log ? Math.exp(at) : at;
    return look.step && !look.log ? Math.round(value / look.step) * look.step : Number(value.toPrecision(look.log ? 2 : 3));
  };
  const write = (value: number): string => String(Number(value.toPrecision(4)));
  const paint = (): void => range.style.setProperty('--part', `${(100 * Number(range.value)) / STEPS}%`);
  const send = (value: number): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      timer = 0;
      if (value !== last) {
        last = value;
        look.change(value / factor);
      }
    }, DEBOUNCE);
  };
  range.addEventListener('pointerdown', () => (held = true));
  range.addEventListener('pointerup', () => (held = false));
  range.addEventListener('input', () => {
    field.value = write(fromRange());
    paint();
  });
  range.addEventListener('change', () => {
    held = false;
    send(fromRange());
  });
  const typed = (): void => {
    const value = Number(field.value.replace(',', '.').replace('−', '-'));
    // Numbers beyond the slider are the engine's to judge; what is no number goes back.
    if (field.value.trim() === '' || !Number.isFinite(value)) field.value = Number.isFinite(last) ? write(last) : '';
    else {
      range.value = String(toRange(value));
      paint();
      send(value);
    }
  };
  field.addEventListener('change', typed);
  field.addEventListener('keydown', (event) => {
    const up = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
    if (up === 0) return;
    event.preventDefault();
    const value = Number(field.value) || 0;
    const by = look.step ?? (high - low) / 50;
    field.value = write(look.log ? value * 1.1 ** up : Math.min(look.max, Math.max(look.min, value + up * by)));
    typed();
  });
  const node = el(
    'div',
    { class: 'field' },
    el('label', { text: look.label, attrs: { for: id } }),
    range,
    el('div', { class: 'number-box' }, field, el('span', { class: 'unit', text: look.unit })),
  );
  if (look.hint) node.title = look.hint;
  return {
    node,
    set(si) {
      if (held || timer || document.activeElement === field) return;
      last = si * factor;
      field.value = write(last);
      range.value = String(toRange(last));
      paint();
    },
    enable(on) {
      range.disabled = field.disabled = !on;
    },
  };
}

export function toggle(label: string, change: (on: boolean) => void, hint = ''): { node: HTMLElement; set: (on: boolean) => void } {
  const box = el('input', { attrs: { type: 'checkbox', role: 'switch' } });
  box.addEventListener('change', () => change(box.checked));
  const node = el('label', { class: 'toggle', title: hint }, el('span', { text: label }), box);
  return { node, set: (on) => (box.checked = on) };
}

export interface Choice {
  node: HTMLElement;
  select: HTMLSelectElement;
  fill: (values: readonly { value: string; text: string }[]) => void;
  set: (value: string) => void;
}

export function choice(label: string, change: (value: string) => void): Choice {
  const id = unique('field');
  const select = el('select', { id });
  select.addEventListener('change', () => change(select.value));
  return {
    node: el('div', { class: 'field inline' }, el('label', { text: label, attrs: { for: id } }), select),
    select,
    fill(values) {
      const before = select.value;
      select.replaceChildren(...values.map(({ value, text }) => el('option', { text, attrs: { value } })));
      select.value = before;
    },
    set(value) {
      select.value = value;
    },
  };
}

/** A few buttons of which one is down. */
export function segments<T extends string>(
  label: string,
  values: readonly { value: T; text: string }[],
  change: (value: T) => void,
): { node: HTMLElement; set: (value: T) => void } {
  const buttons = values.map(({ value, text }) => {
    const one = button({ text, press: () => change(value) });
    one.setAttribute('aria-pressed', 'false');
    return one;
  });
  return {
    node: el('div', { class: 'segments', attrs: { role: 'group', 'aria-label': label } }, ...buttons),
    set(value) {
      values.forEach((one, k) => buttons[k].setAttribute('aria-pressed', String(one.value === value)));
    },
  };
}

/** A window over the page that Escape closes and that keeps the focus. */
export function dialog(title: string, ...children: Child[]): HTMLDialogElement {
  const id = unique('dialog');
  const node = el('dialog', { class: 'dialog', attrs: { 'aria-labelledby': id } });
  const close = button({ icon: 'remove', label: 'Close', class: 'quiet', press: () => node.close() });
  node.append(
    el('header', {}, el('h2', { text: title, id }), close),
    el('div', { class: 'dialog-body' }, ...children),
  );
  node.addEventListener('click', (event) => {
    if (event.target === node) node.close();
  });
  document.body.append(node);
  return node;
}
