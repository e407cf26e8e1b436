/** Numbers for people: few digits, real minus signs, SI prefixes where numbers span many decades. */

const PREFIXES: [number, string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
  [1e-3, 'm'],
  [1e-6, 'µ'],
  [1e-9, 'n'],
  [1e-12, 'p'],
];

const minus = (text: string): string => text.replace('-', '−');

/** A number with so many significant digits and no exponent where it can be helped. */
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-5) return minus(value.toExponential(significant - 1));
  const places = Math.max(0, significant - 1 - Math.floor(Math.log10(size)));
  return minus(value.toFixed(Math.min(places, 9)));
}

/** A quantity with its unit: 0.00032 N is 320 µN. */
export function quantity(value: number, unit: string, significant = 3): string {
  if (!Number.isFinite(value)) return `– ${unit}`;
  if (value === 0 || unit === '') return `${digits(value, significant)} ${unit}`.trim();
  const size = Math.abs(value);
  const [factor, prefix] = PREFIXES.find(([factor]) => size >= factor * 0.9995) ?? [1e-12, 'p'];
  return `${digits(value / factor, significant)} ${prefix}${unit}`;
}

export function percent(value: number): string {
  return `${digits(100 * value, 3)} %`;
}

export function seconds(value: number): string {
  return value >= 60 ? `${Math.floor(value / 60)} min ${(value % 60).toFixed(1)} s` : `${value.toFixed(2)} s`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

/** The smallest of 1, 2, 5 times a power of ten that is not below a value: ends of axes and legends. */
export function ceiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value * 0.999) ?? 10);
}
