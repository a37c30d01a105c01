import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventFromLogic,
  type InputFrom,
  initialTransition,
  type SnapshotFrom,
  transition,
} from 'xstate';
import { stateName } from './state-name.ts';

interface Action {
  readonly type: string;
  readonly params: unknown;
}

export interface Step<M extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<M>;
  /** What the machine wants done, in order. */
  readonly actions: readonly Action[];
}

interface Known<M extends AnyStateMachine> {
  readonly id: number;
  readonly state: string;
  readonly steps: Map<string, Step<M>>;
}

/**
 * A machine as a function that remembers. What a step leads to is computed once, and snapshots that are the same
 * configuration are the same object: so a product of several machines costs little more than looking up.
 */
export class PureMachine<M extends AnyStateMachine> {
  readonly #machine: M;
  readonly #key: (snapshot: SnapshotFrom<M>) => string;
  readonly #begins = new Map<string, Step<M>>();
  readonly #snapshots = new Map<string, SnapshotFrom<M>>();
  readonly #known = new Map<SnapshotFrom<M>, Known<M>>();

  constructor(machine: M, key: (snapshot: SnapshotFrom<M>) => string) {
    this.#machine = machine;
    this.#key = key;
  }

  begin(input: InputFrom<M>): Step<M> {
    return this.#remembered(this.#begins, JSON.stringify(input), () =>
      initialTransition(this.#machine, input as never),
    );
  }

  next(snapshot: SnapshotFrom<M>, event: EventFromLogic<M>): Step<M> {
    return this.#remembered(this.#known.get(snapshot)!.steps, JSON.stringify(event), () =>
      transition(this.#machine, snapshot, event),
    );
  }

  /** Of a configuration. */
  idOf(snapshot: SnapshotFrom<M>): number {
    return this.#known.get(snapshot)!.id;
  }

  /** `ready.steady`, `closed`, … */
  stateOf(snapshot: SnapshotFrom<M>): string {
    return this.#known.get(snapshot)!.state;
  }

  #remembered(steps: Map<string, Step<M>>, name: string, compute: () => unknown): Step<M> {
    const known = steps.get(name);
    if (known !== undefined) return known;
    const [snapshot, actions] = compute() as [SnapshotFrom<M>, readonly Action[]];
    const step = { snapshot: this.#shared(snapshot), actions };
    steps.set(name, step);
    return step;
  }

  #shared(snapshot: SnapshotFrom<M>): SnapshotFrom<M> {
    const key = this.#key(snapshot);
    const known = this.#snapshots.get(key);
    if (known !== undefined) return known;
    this.#snapshots.set(key, snapshot);
    this.#known.set(snapshot, {
      id: this.#known.size,
      state: stateName((snapshot as AnyMachineSnapshot).value),
      steps: new Map(),
    });
    return snapshot;
  }
}
