/** The connections of a supervisor as they are now, and those that have just been closed. */
import type { ConnectionState } from '../../../machines/connection.machine.ts';
import { actionFor } from '../../status.ts';
import type { Supervisor } from '../../supervisor.ts';
import type { Step } from '../steps.ts';
import { factsOf } from './facts.ts';
import { trailAfter } from './trail.ts';
import type { ConnectionView, Trail } from './wire.ts';

/** How long a closed connection is still shown, and how many at most. */
const SHOWN_CLOSED_MS = 60_000;
const CLOSED_KEPT = 50;

interface Machine {
  readonly last: Step;
  /** When it entered its outer state. */
  readonly since: number;
  readonly trail: Trail;
}

export class Connections {
  readonly #supervisor: Supervisor;
  readonly #machines = new Map<string, Machine>();

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  get names(): Iterable<string> {
    return this.#machines.keys();
  }

  /** Returns the names of closed connections that made room. */
  take(step: Step): readonly string[] {
    if (step.machine !== 'connection') return [];
    const before = this.#machines.get(step.connection);
    const known = before?.last.actor === step.actor ? before : undefined;
    // A name is free before its last machine has told that it is closed.
    if (before !== undefined && known === undefined && step.ended) return [];
    const stayed = known !== undefined && outer(known.last.to) === outer(step.to);
    this.#machines.set(step.connection, {
      last: step,
      since: stayed ? known.since : step.at,
      trail: trailAfter(known?.trail ?? [], step),
    });
    return step.ended ? this.#forget(this.#closed().slice(0, -CLOSED_KEPT)) : [];
  }

  /** Returns the names of those that have been closed for long. */
  prune(now: number): readonly string[] {
    return this.#forget(this.#closed().filter(([, { last }]) => now - last.at > SHOWN_CLOSED_MS));
  }

  /** Nothing for a name that is not known, or not shown any more. */
  view(name: string): ConnectionView | undefined {
    const machine = this.#machines.get(name);
    if (machine === undefined) return undefined;
    const { last, trail } = machine;
    const status = this.#supervisor.connections.get(name)?.status ?? closedStatus(machine);
    const { attempts = 0 } = factsOf(last.context);
    return { ...status, path: last.to, attempts, trail };
  }

  #closed(): [string, Machine][] {
    return [...this.#machines].filter(([, { last }]) => last.ended);
  }

  #forget(machines: readonly [string, Machine][]): readonly string[] {
    for (const [name] of machines) this.#machines.delete(name);
    return machines.map(([name]) => name);
  }
}

/** Of a connection whose handle the supervisor has let go. */
function closedStatus({ last, since }: Machine): Omit<ConnectionView, 'path' | 'attempts' | 'trail'> {
  const { ownership = 'supervisor', generation = 0, cause } = factsOf(last.context);
  const state = outer(last.to) as ConnectionState;
  return {
    connection: last.connection,
    state,
    ownership,
    generation,
    protocolVersion: undefined,
    since,
    suspectSince: undefined,
    reason: cause,
    action: actionFor(state, cause),
    authorization: undefined,
    inFlight: 0,
    waiting: 0,
    lastError: undefined,
  };
}

function outer(path: string): string {
  return path.split('.', 1)[0] as string;
}
