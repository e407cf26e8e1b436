import './theme.css';
import { Connection } from './connection';
import { expose } from './debug';
import { el, memory } from './dom';
import { gallery } from './gallery';
import { Hands } from './hands';
import { importer } from './importer';
import { help, listen } from './keys';
import { notes } from './notes';
import { airPanel } from './panels/air';
import { contactPanel, solverPanel } from './panels/contact';
import { explainPanel } from './panels/explain';
import { fabricPanel } from './panels/fabric';
import { chartsPanel, statisticsPanel } from './panels/measure';
import { objectsPanel } from './panels/objects';
import { legend, overlaysPanel } from './panels/overlays';
import { changesPanel, peoplePanel } from './panels/room';
import { Studio } from './studio';
import { tabs } from './tabs';
import { theme } from './theme';
import { timeline } from './timeline';
import { beginning, toolbar } from './toolbar';
import { topbar } from './topbar';
import { Viewport } from './view/viewport';

const asked = new URLSearchParams(location.search);
const app = document.getElementById('app') ?? document.body;

function start(): void {
  const canvas = el('canvas', { class: 'view', attrs: { tabindex: '0', role: 'application', 'aria-label': 'Cloth. Keys are listed under ?' } });
  const stage = el('main', { class: 'stage' }, canvas);
  app.append(stage);
  const viewport = new Viewport(canvas, asked.has('noaa'));
  const connection = new Connection(memory.get('name') ?? 'Guest', asked.get('format') === 'u16' ? 'u16' : 'f32');
  const studio = new Studio(connection, viewport);
  const hands = new Hands(studio);
  expose(studio, hands);
  theme.watch((now) => viewport.theme(now));

  const openGallery = gallery(studio);
  const importMesh = importer(studio);
  const helpDialog = help();
  const showHelp = (): void => helpDialog.showModal();
  const explain = explainPanel(studio);
  const side = tabs([
    { name: 'Scene', panels: [objectsPanel(studio, importMesh), fabricPanel(studio), airPanel(studio), contactPanel(studio), solverPanel(studio)] },
    { name: 'Inspect', panels: [overlaysPanel(studio), explain, chartsPanel(studio), statisticsPanel(studio)] },
    { name: 'Room', panels: [peoplePanel(studio), changesPanel(studio)] },
  ]);
  const panel = (): void => {
    const hidden = app.classList.toggle('no-side');
    memory.set('side', hidden ? 'hidden' : 'shown');
  };
  const kept = memory.get('side');
  // Tablets begin with the whole view.
  const small = innerWidth < 900 || (innerWidth < 1200 && matchMedia('(pointer: coarse)').matches);
  if (kept === 'hidden' || (kept === null && small)) app.classList.add('no-side');
  // A question deserves that its answer is seen.
  studio.chosen.watch((chosen) => {
    if (!chosen) return;
    side.show('Inspect');
    explain.open = true;
    explain.scrollIntoView({ block: 'nearest' });
  });
  stage.append(toolbar(studio), legend(studio), beginning(studio), notes(studio));
  app.prepend(topbar(studio, { gallery: openGallery, help: showHelp, panel }));
  app.append(side.node, timeline(studio));
  listen(studio, hands, showHelp, { gallery: openGallery, importMesh, panel });
  studio.scene.watch((info) => {
    document.title = info ? `${info.name} – toile studio` : 'toile studio';
  });
  connection.open();
}

try {
  start();
} catch (error) {
  // Without WebGL there is nothing to show but why.
  const why = error instanceof Error ? error.message : String(error);
  app.replaceChildren(el('p', { class: 'fatal', text: `The studio cannot draw here: ${why}. It needs a browser with WebGL 2.` }));
}
