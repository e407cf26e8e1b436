import { el } from '../dom';
import type { FabricSettings } from '../protocol';
import type { Studio } from '../studio';
import { choice, section, slider, type Slider } from '../widgets';

type Number = Exclude<keyof FabricSettings, 'preset'>;

interface Row {
  key: Number;
  label: string;
  unit: string;
  factor?: number;
  min: number;
  max: number;
  log?: boolean;
  hint: string;
}

/** Ranges hold every fabric that is worn, from silk gauze to canvas; fields take more. */
const ROWS: Row[] = [
  { key: 'density', label: 'Density', unit: 'g/m²', factor: 1e3, min: 20, max: 1000, log: true, hint: 'Mass per area' },
  { key: 'stretch_warp', label: 'Stretch, warp', unit: 'N/m', min: 20, max: 1e5, log: true, hint: 'Stiffness along the warp' },
  { key: 'stretch_weft', label: 'Stretch, weft', unit: 'N/m', min: 20, max: 1e5, log: true, hint: 'Stiffness along the weft' },
  { key: 'shear', label: 'Shear', unit: 'N/m', min: 1, max: 1e4, log: true, hint: 'Stiffness against shear' },
  { key: 'bend', label: 'Bend', unit: 'µN·m', factor: 1e6, min: 0.1, max: 1e4, log: true, hint: 'Bending stiffness in every direction' },
  { key: 'damping', label: 'Damping', unit: 'ms', factor: 1e3, min: 0, max: 50, hint: "Viscosity's time constant" },
  { key: 'thickness', label: 'Thickness', unit: 'mm', factor: 1e3, min: 0.05, max: 5, log: true, hint: 'Layers keep at least this distance' },
  { key: 'friction', label: 'Friction', unit: 'μ', min: 0, max: 1.5, hint: 'Of the fabric on itself' },
];

const UNCHANGED: FabricSettings = {
  preset: null,
  density: null,
  stretch_warp: null,
  stretch_weft: null,
  shear: null,
  bend: null,
  damping: null,
  thickness: null,
  friction: null,
};

/** What the chosen cloth is made of. */
export function fabricPanel(studio: Studio): HTMLElement {
  const send = (values: Partial<FabricSettings>): void => {
    const object = studio.object.now;
    if (object !== null) void studio.edit({ do: 'fabric', object, fabric: { ...UNCHANGED, ...values } });
  };
  const object = choice('Object', (value) => studio.object.set(Number(value)));
  const preset = choice('Preset', (value) => value && send({ preset: value }));
  const sliders = new Map<Number, Slider>(
    ROWS.map((row) => [row.key, slider({ ...row, change: (value) => send({ [row.key]: value }) })]),
  );
  const none = el('p', { class: 'empty', text: 'Choose an object of cloth to see what it is made of.' });
  const rows = el('div', { class: 'stack' }, preset.node, ...[...sliders.values()].map(({ node }) => node));

  const show = (): void => {
    const panels = studio.panels.now;
    const objects = studio.scene.now?.objects ?? [];
    const known = panels?.fabrics ?? [];
    object.fill(
      known.map(([id]) => ({ value: String(id), text: objects.find((one) => one.id === id)?.name ?? `object ${id}` })),
    );
    const fabric = known.find(([id]) => id === studio.object.now)?.[1];
    object.set(fabric ? String(studio.object.now) : '');
    object.node.hidden = known.length === 0 || (known.length === 1 && fabric !== undefined);
    none.hidden = fabric !== undefined;
    rows.hidden = fabric === undefined;
    if (!fabric) return;
    const names = studio.welcome.now?.presets ?? [];
    preset.fill([{ value: '', text: 'Own values' }, ...names.map((name) => ({ value: name, text: name }))]);
    preset.set(fabric.preset ?? '');
    for (const [key, one] of sliders) {
      const value = fabric[key];
      one.enable(value !== null);
      if (value !== null) one.set(value);
    }
  };
  studio.welcome.watch(show);
  studio.scene.watch(show);
  studio.panels.watch(show);
  studio.object.watch(show);
  return section('Fabric', true, object.node, none, rows);
}
