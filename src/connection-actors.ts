/** The connection machine with its real actors. One provided machine serves every connection. */
import { type AnyActorRef, fromCallback, fromPromise } from 'xstate';
import {
  type ConnectionEvent,
  connectionMachine,
  type OpenInput,
  type ProbeInput,
  type ProbeOutcome,
} from '../machines/connection.machine.ts';

/** What the machine's actors do, for one connection. */
export interface ConnectionEdge {
  open(input: OpenInput, signal: AbortSignal): Promise<void>;
  /** Is what the caller supplied connected? */
  verify(): boolean;
  probe(input: ProbeInput, signal: AbortSignal): Promise<ProbeOutcome>;
  shutdown(): Promise<void>;
}

/** Each root actor has a system of its own, which names its connection and keeps it alive no longer than itself. */
const bySystem = new WeakMap<AnyActorRef['system'], ConnectionEdge>();

function edgeOf(system: AnyActorRef['system']): ConnectionEdge {
  const edge = bySystem.get(system);
  if (edge === undefined) throw new Error('A connection actor without its connection');
  return edge;
}

/** Before the actor is started. */
export function bindConnection(
  actor: { readonly system: AnyActorRef['system'] },
  edge: ConnectionEdge,
): void {
  bySystem.set(actor.system, edge);
}

export const runnableConnectionMachine = connectionMachine.provide({
  actors: {
    open: fromPromise<void, OpenInput>(({ input, signal, system }) => edgeOf(system).open(input, signal)),
    verify: fromCallback<ConnectionEvent>(({ sendBack, system }) => {
      sendBack({ type: edgeOf(system).verify() ? 'verified' : 'unverified' });
    }),
    probe: fromPromise<ProbeOutcome, ProbeInput>(({ input, signal, system }) =>
      edgeOf(system).probe(input, signal),
    ),
    shutdown: fromPromise<void>(({ system }) => edgeOf(system).shutdown()),
  },
  delays: {
    /** Full jitter, so that connections which were lost together do not come back together. */
    backoff: ({ context }) => {
      const { attempts, initialBackoffMs, maxBackoffMs, retryAfterMs } = context;
      const bound = Math.min(maxBackoffMs, initialBackoffMs * 2 ** Math.max(0, attempts - 1));
      return Math.max(retryAfterMs, Math.random() * bound);
    },
  },
});
