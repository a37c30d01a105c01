/** The operation machine with actions that only count. Nothing here is real. */
import { type ActorRefFrom, createActor } from 'xstate';
import {
  type OperationEvent,
  type OperationInput,
  operationMachine,
} from '../../machines/operation.machine.ts';
import type { Evidence } from '../../machines/vocabulary.ts';

export const UNSENT: OperationInput = {
  ownership: 'supervisor',
  kind: 'tool',
  policy: 'if-unsent',
  evidence: null,
  sends: 0,
  admission: 'waits',
};

export const LOST_UNRUN: Evidence = { connection: 'lost', execution: 'none', cause: 'session-unknown' };
export const LOST_UNKNOWN: Evidence = {
  connection: 'lost',
  execution: 'unknown',
  cause: 'connection-closed',
};
export const NO_LOSS: Evidence = { connection: 'usable', execution: 'answered', cause: 'rpc-error' };

export class OperationDriver {
  /** How often it was sent. */
  sends = 0;
  demands = 0;
  proofsAwaited = 0;
  readonly actor: ActorRefFrom<typeof operationMachine>;

  constructor(input: Partial<OperationInput> = {}) {
    const machine = operationMachine.provide({
      actions: {
        demandConnection: () => void this.demands++,
        awaitProof: () => void this.proofsAwaited++,
        send: () => void this.sends++,
      },
    });
    this.actor = createActor(machine, { input: { ...UNSENT, ...input } });
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
      sends: this.sends,
      demands: this.demands,
      proofsAwaited: this.proofsAwaited,
    });
  }

  send(event: OperationEvent): this {
    // XState itself drops what is sent to an actor that is done, and warns about it.
    if (!this.isOver) this.actor.send(event);
    return this;
  }
}
