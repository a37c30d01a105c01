/** The operation machine with a `send` that the test settles, and a clock that it turns. Nothing here is real. */
import { type ActorRefFrom, createActor, fromPromise, SimulatedClock } from 'xstate';
import {
  type OperationEvent,
  type OperationInput,
  operationMachine,
} from '../../machines/operation.machine.ts';
import type { Evidence } from '../../machines/vocabulary.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

export const UNSENT: OperationInput = {
  ownership: 'supervisor',
  kind: 'tool',
  policy: 'if-unsent',
  evidence: null,
  sends: 0,
  admission: 'waits',
  remainingMs: 10_000,
};

export const LOST_UNRUN: Evidence = { connection: 'lost', execution: 'none', cause: 'session-unknown' };
export const LOST_UNKNOWN: Evidence = {
  connection: 'lost',
  execution: 'unknown',
  cause: 'connection-closed',
};
export const NO_LOSS: Evidence = { connection: 'usable', execution: 'answered', cause: 'rpc-error' };

export class OperationDriver {
  readonly clock = new SimulatedClock();
  readonly sends: (Deferred<void> & { signal: AbortSignal })[] = [];
  demands = 0;
  proofsAwaited = 0;
  readonly actor: ActorRefFrom<typeof operationMachine>;

  constructor(input: Partial<OperationInput> = {}) {
    const machine = operationMachine.provide({
      actors: {
        send: fromPromise<void>(({ signal }) => {
          const next = { ...deferred(), signal };
          this.sends.push(next);
          return next.promise;
        }),
      },
      actions: {
        demandConnection: () => void this.demands++,
        awaitProof: () => void this.proofsAwaited++,
      },
    });
    this.actor = createActor(machine, { input: { ...UNSENT, ...input }, clock: this.clock });
    this.actor.start();
  }

  get state(): string {
    return this.actor.getSnapshot().value as string;
  }

  get context() {
    return this.actor.getSnapshot().context;
  }

  get isOver(): boolean {
    return this.actor.getSnapshot().status === 'done';
  }

  get trace() {
    const { value, context, status } = this.actor.getSnapshot();
    return JSON.stringify({
      value,
      context,
      status,
      sends: this.sends.map(({ signal }) => signal.aborted),
      demands: this.demands,
      proofsAwaited: this.proofsAwaited,
    });
  }

  send(event: OperationEvent): this {
    // XState itself drops what is sent to an actor that is done, and warns about it.
    if (!this.isOver) this.actor.send(event);
    return this;
  }

  async sent(): Promise<this> {
    this.sends.at(-1)?.resolve();
    return this.#settled();
  }

  async sendFailed(evidence: Evidence): Promise<this> {
    this.sends.at(-1)?.reject(evidence);
    return this.#settled();
  }

  pass(ms: number): this {
    this.clock.increment(ms);
    return this;
  }

  /** Until what a settled promise causes has happened. */
  async #settled(): Promise<this> {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    return this;
  }
}
