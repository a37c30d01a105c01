/** Listeners that a host registered. One that throws harms nobody. */
interface Entry<Events> {
  readonly type: keyof Events;
  readonly listener: (event: never) => void;
}

export class Listeners<Events extends object> {
  /** Replaced, not changed: an event goes to those that were registered when it came. */
  #entries: readonly Entry<Events>[] = [];
  readonly #onThrow: (type: keyof Events) => void;

  constructor(onThrow: (type: keyof Events) => void) {
    this.#onThrow = onThrow;
  }

  /** Returns a function that removes the listener. */
  on<T extends keyof Events>(type: T, listener: (event: Events[T]) => void): () => void {
    const isSame = (entry: Entry<Events>) => entry.type === type && entry.listener === listener;
    if (!this.#entries.some(isSame)) this.#entries = this.#entries.concat({ type, listener });
    return () => {
      this.#entries = this.#entries.filter((entry) => !isSame(entry));
    };
  }

  emit<T extends keyof Events>(type: T, event: Events[T]): void {
    for (const entry of this.#entries) {
      // Another listener may have removed it meanwhile.
      if (entry.type !== type || !this.#entries.includes(entry)) continue;
      try {
        const result: unknown = (entry.listener as (event: Events[T]) => unknown)(event);
        if (result instanceof Promise) result.catch(() => this.#onThrow(type));
      } catch {
        this.#onThrow(type);
      }
    }
  }
}
