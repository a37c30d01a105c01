import type { ConnectionState } from '../../src/index.ts';

interface Limits {
  readonly maxAttempts: number;
  readonly stableMs: number;
  readonly coolDownMs: number;
  readonly windowMs: number;
}

/** Counts dials as their budget is described to hosts. Where the host has asked for a dial, it is lenient. */
export class Budget {
  readonly #limits: Limits;
  #spent = 0;
  #since = Date.now();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  dialled(): string | undefined {
    this.#spent++;
    const { maxAttempts } = this.#limits;
    return this.#spent > maxAttempts ? `dial ${this.#spent} of ${maxAttempts}` : undefined;
  }

  /** An operation was answered, if by an error. Lenient: also one that a generation of before was still asked. */
  answered(): void {
    this.#spent = 0;
  }

  /** By the host's own wish. */
  reconnects(): void {
    this.#spent = 0;
  }

  left(state: ConnectionState): string | undefined {
    const ms = Date.now() - this.#since;
    this.#since = Date.now();
    const { maxAttempts, stableMs, coolDownMs, windowMs } = this.#limits;
    if (state === 'ready' && ms >= stableMs) this.#spent = 0;
    // One trial. A tenth of the cool-down is random.
    if (state === 'exhausted' && ms >= 0.9 * coolDownMs) this.#spent = Math.min(this.#spent, maxAttempts - 1);
    return state === 'recreating' && ms > windowMs ? `was recreating for ${ms} ms` : undefined;
  }
}
