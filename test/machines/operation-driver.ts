/** The operation machine with actions that only count. Nothing here is real. */
import { type ActorRefFrom, type AnyActorRef, createActor } from 'xstate';
import {
  type OperationEvent,
  type OperationInput,
  operationMachine,
} from '../../machines/operation.machine.ts';
import type { DemandedOperation, Evidence } from '../../machines/vocabulary.ts';

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

export class OperationDriver {
  /** What it asked for, and how often. */
  readonly asked = { demand: 0, proof: 0, send: 0 };
  /** What it demanded the connection for, each time. */
  readonly demanded: DemandedOperation[] = [];
  readonly actor: ActorRefFrom<typeof operationMachine>;

  /** `machine`: the mutation run has others. */
  constructor(input: Partial<OperationInput> = {}, machine = operationMachine) {
    this.actor = createActor(runnable(machine), { input: { ...UNSENT, ...input } });
    bySystem.set(this.actor.system, this);
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

  /** Everything that an ignored event must leave as it is. */
  get trace() {
    const { value, context, status } = this.actor.getSnapshot();
    return JSON.stringify({ value, context, status, asked: this.asked });
  }

  send(event: OperationEvent): this {
    // XState itself drops what is sent to an actor that is done, and warns about it.
    if (!this.isOver) this.actor.send(event);
    return this;
  }
}

/** Making a machine runnable takes as long as many steps, so it is done once for each. */
const runnables = new WeakMap<typeof operationMachine, typeof operationMachine>();
const bySystem = new WeakMap<AnyActorRef['system'], OperationDriver>();

function driverOf(system: AnyActorRef['system']): OperationDriver {
  return bySystem.get(system)!;
}

function runnable(machine: typeof operationMachine): typeof operationMachine {
  const known = runnables.get(machine) ?? provided(machine);
  runnables.set(machine, known);
  return known;
}

function provided(machine: typeof operationMachine): typeof operationMachine {
  return machine.provide({
    actions: {
      demandConnection: ({ system }, operation) => {
        const { asked, demanded } = driverOf(system);
        asked.demand++;
        demanded.push(operation);
      },
      awaitProof: ({ system }) => void driverOf(system).asked.proof++,
      send: ({ system }) => void driverOf(system).asked.send++,
    },
  });
}
