import { memory } from './dom';
import { Value } from './value';

export type Theme = 'dark' | 'light';

/** As the system has it, until somebody chooses. */
export const theme = new Value<Theme>(chosen() ?? system());

function chosen(): Theme | null {
  const kept = memory.get('theme');
  return kept === 'dark' || kept === 'light' ? kept : null;
}

function system(): Theme {
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => {
  if (!chosen()) theme.set(system());
});

theme.watch((now) => {
  document.documentElement.dataset.theme = now;
});

export function switchTheme(): void {
  const next = theme.now === 'dark' ? 'light' : 'dark';
  memory.set('theme', next);
  theme.set(next);
}
