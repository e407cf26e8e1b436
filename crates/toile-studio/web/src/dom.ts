/** Elements without markup: every text goes in as text, because names come from other people. */

export type Child = Node | string;

export interface Props {
  class?: string;
  text?: string;
  title?: string;
  id?: string;
  attrs?: Record<string, string>;
  on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (props.class) node.className = props.class;
  if (props.id) node.id = props.id;
  if (props.title) node.title = props.title;
  if (props.text !== undefined) node.textContent = props.text;
  for (const [name, value] of Object.entries(props.attrs ?? {})) node.setAttribute(name, value);
  for (const [name, listener] of Object.entries(props.on ?? {})) {
    node.addEventListener(name, listener as EventListener);
  }
  node.append(...children);
  return node;
}

/** Saves bytes as a file of the person's. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  el('a', { attrs: { href: address, download: name } }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

let serial = 0;

/** An id that no other element has, for labels. */
export function unique(stem: string): string {
  serial += 1;
  return `${stem}-${serial}`;
}

/** What this browser remembers; pages must also work where storage is forbidden. */
export const memory = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(`toile.${key}`);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(`toile.${key}`, value);
    } catch {
      // Nothing depends on it.
    }
  },
};
