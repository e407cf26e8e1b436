/** A value that tells those who watch it when it changes. */
export class Value<T> {
  #now: T;
  readonly #watchers = new Set<(now: T) => void>();

  constructor(first: T) {
    this.#now = first;
  }

  get now(): T {
    return this.#now;
  }

  set(next: T): void {
    this.#now = next;
    for (const watcher of this.#watchers) watcher(next);
  }

  /** Calls now, and after every change. */
  watch(watcher: (now: T) => void): void {
    this.#watchers.add(watcher);
    watcher(this.#now);
  }
}
