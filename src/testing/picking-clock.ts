import { SimulatedClock } from 'xstate';

/** XState's simulated clock, on which one timer can also be made to fire before others that are due earlier. */
export class PickingClock extends SimulatedClock {
  readonly #running = new Map<number, { readonly ms: number; readonly fire: () => void }>();

  /** The durations of the timers that run. */
  get runningMs(): number[] {
    return [...this.#running.values()].map(({ ms }) => ms);
  }

  override setTimeout(fn: () => void, ms: number): number {
    const fire = () => {
      this.clearTimeout(id);
      fn();
    };
    const id: number = super.setTimeout(fire, ms);
    this.#running.set(id, { ms, fire });
    return id;
  }

  override clearTimeout(id: number): void {
    this.#running.delete(id);
    super.clearTimeout(id);
  }

  /** Fires the timer of this duration (or up to `maxMs`). False if there is none. */
  fire(ms: number, maxMs = ms): boolean {
    const timer = [...this.#running.values()].find((each) => each.ms >= ms && each.ms <= maxMs);
    timer?.fire();
    return timer !== undefined;
  }
}
