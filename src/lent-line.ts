/** The line to a connection that its caller supplied. Nothing in this file opens, closes or ends anything. */
import { hintOf } from './evidence/hints.ts';
import type { Generation } from './generation.ts';
import { LentGeneration } from './lent-generation.ts';
import type { Line, LineHooks } from './line.ts';
import { type ClientShape, isConnected, type SessionShape } from './transports/client-shape.ts';

export class LentLine implements Line {
  readonly lastDial = undefined;
  readonly #hooks: LineHooks;
  readonly #asClient: (supplied: SessionShape) => ClientShape;
  #supplied: SessionShape;

  constructor(supplied: SessionShape, asClient: (supplied: SessionShape) => ClientShape, hooks: LineHooks) {
    this.#supplied = supplied;
    this.#asClient = asClient;
    this.#hooks = hooks;
  }

  /** The caller's own act. What was supplied before stays as it is. */
  supply(supplied: SessionShape): void {
    this.#supplied = supplied;
  }

  open(): never {
    throw new Error('A connection that belongs to its caller is never opened here');
  }

  check(number: number): Generation | undefined {
    if (!isConnected(this.#supplied)) return undefined;
    return new LentGeneration(number, this.#supplied, this.#asClient(this.#supplied), {
      lost: (generation, cause) => this.#hooks.lost(generation, cause),
      hinted: (generation, error) => {
        const hint = hintOf(error);
        if (hint === 'stream-ended') this.#hooks.lost(generation, hint);
        else if (hint === 'deaf') this.#hooks.suspected(generation, hint);
      },
      heard: (generation) => this.#hooks.heard(generation),
      listenStreamLost: (generation, loss) => this.#hooks.listenStreamLost(generation, loss),
    });
  }

  retire(generation: Generation): void {
    (generation as LentGeneration).giveBack();
  }

  retired(): never {
    throw new Error('A connection that belongs to its caller is never made anew here');
  }

  async finish(): Promise<void> {}
}
