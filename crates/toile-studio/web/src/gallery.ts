import { el } from './dom';
import { count } from './format';
import type { SceneCard } from './protocol';
import type { Studio } from './studio';
import { dialog } from './widgets';

/** Scenes with their pictures. */
export function gallery(studio: Studio): () => void {
  const cards = el('div', { class: 'cards' });
  const note = el('p', { class: 'hint', text: 'A scene opens for everybody in this room.' });
  const node = dialog('Scenes', note, cards);
  const card = (scene: SceneCard): HTMLElement => {
    const picture = el('img', { attrs: { src: `/api/scenes/${encodeURIComponent(scene.name)}/picture.png`, alt: '', loading: 'lazy' } });
    picture.addEventListener('error', () => picture.classList.add('missing'));
    const here = scene.name === studio.scene.now?.name;
    return el(
      'button',
      {
        class: 'card',
        attrs: { type: 'button', 'aria-current': String(here) },
        on: {
          click() {
            studio.connection.send({ say: 'open', scene: scene.name });
            node.close();
          },
        },
      },
      picture,
      el('strong', { text: scene.name }),
      el('span', { class: 'card-title', text: scene.title }),
      el('span', { class: 'quiet-text', text: `${count(scene.vertices)} vertices` }),
    );
  };
  return () => {
    // Pictures are fetched when the gallery is first opened, not before.
    cards.replaceChildren(...(studio.welcome.now?.scenes ?? []).map(card));
    node.showModal();
  };
}
