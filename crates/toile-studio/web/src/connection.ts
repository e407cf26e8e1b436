import { type Edit, type Format, type FromPage, type FromServer, PROTOCOL } from './protocol';
import { Value } from './value';

export type Link =
  | { is: 'connecting' }
  | { is: 'open' }
  | { is: 'waiting'; until: number }
  | { is: 'refused'; why: string };

export interface Outcome {
  tick: number;
  error: string | null;
  /** The line broke before the answer came: nobody knows. */
  lost?: boolean;
}

/** The room of this page: /r/ROOM, or `studio` at the root. */
export function roomName(): string {
  return decodeURIComponent(/^\/r\/([^/]+)/.exec(location.pathname)?.[1] ?? 'studio');
}

/** The line to the server: comes back by itself, with longer and longer pauses. */
export class Connection {
  readonly link = new Value<Link>({ is: 'connecting' });
  onMessage: (message: FromServer) => void = () => {};
  onBinary: (data: ArrayBuffer) => void = () => {};

  #socket: WebSocket | null = null;
  #failures = 0;
  #timer = 0;
  #edits = 0;
  #name: string;
  readonly #format: Format;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();

  constructor(name: string, format: Format) {
    this.#name = name;
    this.#format = format;
  }

  get name(): string {
    return this.#name;
  }

  /** People's names are said in the first message, so another name needs another line. */
  rename(name: string): void {
    this.#name = name;
    this.#failures = 0;
    this.open();
  }

  open(): void {
    clearTimeout(this.#timer);
    this.#drop();
    this.link.set({ is: 'connecting' });
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/ws/${encodeURIComponent(roomName())}`);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.onopen = () => {
      this.send({ say: 'hello', protocol: PROTOCOL, format: this.#format, name: this.#name });
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === 'string') this.#read(event.data);
      else this.onBinary(event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket === socket) void this.#lost(event.reason);
    };
  }

  send(message: FromPage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Asks for a change; the outcome comes when the server has made or refused it. */
  edit(edit: Edit): Promise<Outcome> {
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      return Promise.resolve({ tick: 0, error: 'there is no connection to the engine' });
    }
    this.#edits += 1;
    const id = this.#edits;
    this.send({ say: 'edit', id, edit });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #read(text: string): void {
    const message = JSON.parse(text) as FromServer;
    if (message.say === 'welcome') {
      if (message.protocol !== PROTOCOL) {
        this.#refuse(`this page speaks protocol ${PROTOCOL} and the server ${message.protocol}: reload the page`);
        return;
      }
      this.#failures = 0;
      this.link.set({ is: 'open' });
    }
    if (message.say === 'edited') {
      this.#waiting.get(message.id)?.({ tick: message.tick, error: message.error });
      this.#waiting.delete(message.id);
    }
    this.onMessage(message);
  }

  async #lost(reason: string): Promise<void> {
    this.#drop();
    if (await denied()) {
      this.#refuse('the server wants a new launch code: open the newest address that toile studio printed');
      return;
    }
    if (reason) console.info(`toile: connection closed: ${reason}`);
    this.#failures += 1;
    // Half a second, doubling to ten seconds, spread so that many pages do not come back at once.
    const pause = Math.min(10, 0.5 * 2 ** (this.#failures - 1)) * (0.75 + 0.5 * Math.random());
    this.link.set({ is: 'waiting', until: Date.now() + 1000 * pause });
    this.#timer = window.setTimeout(() => this.open(), 1000 * pause);
  }

  #refuse(why: string): void {
    this.#drop();
    this.link.set({ is: 'refused', why });
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    for (const resolve of this.#waiting.values()) resolve({ tick: 0, error: 'the connection was lost', lost: true });
    this.#waiting.clear();
  }
}

/** A closed socket does not say why; a plain request does. */
async function denied(): Promise<boolean> {
  try {
    const answer = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' });
    return answer.status === 401 || answer.status === 403;
  } catch {
    return false;
  }
}
