/**
 * The one file that knows `@xstate/graph` (docs/adr/0006). Its traps, measured: it walks on past final states, it
 * replaces generated events by those that it is given, and says nothing where it stops. So here every event comes
 * from a fixture, a snapshot that is done or failed has no events, and a limit is always set.
 */
import { getAdjacencyMap, getShortestPaths, getSimplePaths } from '@xstate/graph';
import type { AnyActorLogic, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate';

/** An event that can happen, by the name that the tables use. Undefined where it makes no sense in a snapshot. */
export type Fixtures<L extends AnyActorLogic> = Readonly<
  Record<string, (snapshot: SnapshotFrom<L>) => EventFromLogic<L> | undefined>
>;

export interface Exploration<L extends AnyActorLogic> {
  readonly logic: L;
  readonly input: InputFrom<L>;
  readonly fixtures: Fixtures<L>;
  /** What tells two configurations apart. */
  readonly key: (snapshot: SnapshotFrom<L>) => string;
  /** Where to begin. Default: the machine's own beginning. */
  readonly from?: SnapshotFrom<L> | undefined;
  /** The most configurations times events that may be looked at. */
  readonly limit: number;
}

export interface Edge<S> {
  /** The fixture's name. */
  readonly event: string;
  readonly from: S;
  readonly to: S;
  readonly fromKey: string;
  readonly toKey: string;
}

export interface Graph<S> {
  readonly initial: string;
  readonly configurations: ReadonlyMap<string, S>;
  readonly edges: readonly Edge<S>[];
}

export interface Path<S> {
  readonly steps: readonly Edge<S>[];
}

/** Every configuration that can be reached, and every event in each. */
export function explore<L extends AnyActorLogic>(exploration: Exploration<L>): Graph<SnapshotFrom<L>> {
  const { options, nameOf, keyOf } = prepare(exploration);
  const adjacency = Object.entries(getAdjacencyMap(exploration.logic, options as never));
  const configurations = new Map<string, SnapshotFrom<L>>();
  for (const [key, { state }] of adjacency) configurations.set(key, state as SnapshotFrom<L>);
  const edges = adjacency.flatMap(([fromKey, { state, transitions }]) =>
    Object.values(transitions).map((move) => {
      const { event, state: to } = move as { event: EventFromLogic<L>; state: SnapshotFrom<L> };
      return { event: nameOf(event), from: state as SnapshotFrom<L>, to, fromKey, toKey: keyOf(to) };
    }),
  );
  return { initial: adjacency[0]![0], configurations, edges };
}

/** A shortest path to every configuration. */
export function shortestPaths<L extends AnyActorLogic>(exploration: Exploration<L>): Path<SnapshotFrom<L>>[] {
  const { options, toPath } = prepare(exploration);
  return getShortestPaths(exploration.logic, options as never).map(toPath);
}

/** Every path that meets no configuration twice, as far as it can go: those that only begin another are left out. */
export function simplePaths<L extends AnyActorLogic>(exploration: Exploration<L>): Path<SnapshotFrom<L>>[] {
  const { options, toPath } = prepare(exploration);
  const all = getSimplePaths(exploration.logic, options as never).map(toPath);
  const name = ({ steps }: Path<unknown>) => steps.map(({ event }) => event).join('\n');
  const beginnings = new Set(
    all.flatMap(({ steps }) => steps.map((_, end) => name({ steps: steps.slice(0, end) }))),
  );
  return all.filter((path) => !beginnings.has(name(path)));
}

function prepare<L extends AnyActorLogic>({ input, fixtures, key, from, limit }: Exploration<L>) {
  type S = SnapshotFrom<L>;
  type E = EventFromLogic<L>;
  const names = new WeakMap<object, string>();
  const keys = new WeakMap<object, string>();
  const nameOf = (event: E): string => names.get(event) ?? event.type;
  const keyOf = (snapshot: S): string => {
    const known = keys.get(snapshot as object) ?? key(snapshot);
    keys.set(snapshot as object, known);
    return known;
  };
  const options = {
    input,
    limit,
    ...(from === undefined ? {} : { fromState: from }),
    serializeState: keyOf,
    serializeEvent: nameOf,
    events: (snapshot: S): E[] => {
      if ((snapshot as { status?: string }).status !== 'active') return [];
      return Object.entries(fixtures).flatMap(([name, make]) => {
        const event = make(snapshot);
        if (event === undefined) return [];
        names.set(event, name);
        return [event];
      });
    },
  };
  /** Theirs begins with a step `xstate.init`, and each step names the event before its state. */
  const toPath = ({ steps }: { steps: { state: unknown; event: unknown }[] }): Path<S> => ({
    steps: steps.slice(1).map(({ state, event }, index) => {
      const from = steps[index]!.state as S;
      const to = state as S;
      return { event: nameOf(event as E), from, to, fromKey: keyOf(from), toKey: keyOf(to) };
    }),
  });
  return { options, nameOf, keyOf, toPath };
}
