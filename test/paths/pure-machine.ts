import {
  type AnyStateMachine,
  type EventFromLogic,
  type ExecutableActionsFrom,
  type InputFrom,
  initialTransition,
  type SnapshotFrom,
  transition,
} from 'xstate';

export interface Step<M extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<M>;
  /** What the machine wants done, in order. */
  readonly actions: readonly ExecutableActionsFrom<M>[];
}

/**
 * A machine as a function that remembers. What a step leads to is computed once, and snapshots that are the same
 * configuration are the same object: so a product of several machines costs little more than looking up.
 */
export class PureMachine<M extends AnyStateMachine> {
  readonly #machine: M;
  readonly #key: (snapshot: SnapshotFrom<M>) => string;
  readonly #steps = new Map<string, Step<M>>();
  readonly #snapshots = new Map<string, SnapshotFrom<M>>();
  readonly #keys = new WeakMap<object, string>();

  constructor(machine: M, key: (snapshot: SnapshotFrom<M>) => string) {
    this.#machine = machine;
    this.#key = key;
  }

  begin(input: InputFrom<M>): Step<M> {
    return this.#step(JSON.stringify(input), () => initialTransition(this.#machine, input as never));
  }

  next(snapshot: SnapshotFrom<M>, event: EventFromLogic<M>): Step<M> {
    return this.#step(`${this.keyOf(snapshot)} ${JSON.stringify(event)}`, () =>
      transition(this.#machine, snapshot, event),
    );
  }

  keyOf(snapshot: SnapshotFrom<M>): string {
    return this.#keys.get(snapshot as object) ?? this.#key(snapshot);
  }

  #step(name: string, compute: () => [SnapshotFrom<M>, ExecutableActionsFrom<M>[]]): Step<M> {
    const known = this.#steps.get(name);
    if (known !== undefined) return known;
    const [snapshot, actions] = compute();
    const step = { snapshot: this.#shared(snapshot), actions };
    this.#steps.set(name, step);
    return step;
  }

  #shared(snapshot: SnapshotFrom<M>): SnapshotFrom<M> {
    const key = this.#key(snapshot);
    const known = this.#snapshots.get(key) ?? snapshot;
    this.#snapshots.set(key, known);
    this.#keys.set(known as object, key);
    return known;
  }
}
