/** Listeners that a host registered. One that throws harms nobody. */
export class Listeners<Events extends object> {
  readonly #byType = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #onThrow: (type: keyof Events) => void;

  constructor(onThrow: (type: keyof Events) => void) {
    this.#onThrow = onThrow;
  }

  /** Returns a function that removes the listener. */
  on<T extends keyof Events>(type: T, listener: (event: Events[T]) => void): () => void {
    let listeners = this.#byType.get(type);
    if (listeners === undefined) {
      listeners = new Set();
      this.#byType.set(type, listeners);
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  has(type: keyof Events): boolean {
    return (this.#byType.get(type)?.size ?? 0) > 0;
  }

  emit<T extends keyof Events>(type: T, event: Events[T]): void {
    for (const listener of this.#byType.get(type) ?? []) {
      try {
        const result: unknown = (listener as (event: Events[T]) => unknown)(event);
        if (result instanceof Promise) result.catch(() => this.#onThrow(type));
      } catch {
        this.#onThrow(type);
      }
    }
  }
}
