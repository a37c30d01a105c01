/** Listeners that a host registered. One that throws harms nobody. */
export class Listeners<Events extends object> {
  /** Few, so that an array takes less than a Map. */
  readonly #sets: { readonly type: keyof Events; readonly listeners: Set<(event: never) => void> }[] = [];
  readonly #onThrow: (type: keyof Events) => void;

  constructor(onThrow: (type: keyof Events) => void) {
    this.#onThrow = onThrow;
  }

  /** Returns a function that removes the listener. */
  on<T extends keyof Events>(type: T, listener: (event: Events[T]) => void): () => void {
    let listeners = this.#of(type);
    if (listeners === undefined) {
      listeners = new Set();
      this.#sets.push({ type, listeners });
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  emit<T extends keyof Events>(type: T, event: Events[T]): void {
    for (const listener of this.#of(type) ?? []) {
      try {
        const result: unknown = (listener as (event: Events[T]) => unknown)(event);
        if (result instanceof Promise) result.catch(() => this.#onThrow(type));
      } catch {
        this.#onThrow(type);
      }
    }
  }

  #of(type: keyof Events): Set<(event: never) => void> | undefined {
    return this.#sets.find((each) => each.type === type)?.listeners;
  }
}
