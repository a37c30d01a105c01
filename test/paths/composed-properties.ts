/** What holds for every path of a connection with its operations, as sentences, each checked by exhaustive search. */
import type { SnapshotFrom } from 'xstate';
import { mustCome } from './composed-environment.ts';
import type { ComposedGraph } from './composed-graph.ts';
import type { ComposedLogic } from './composed-model.ts';
import type { Composed, Operation } from './composed-state.ts';
import type { Edge } from './graph.ts';
import type { Property } from './property.ts';
import { stateName } from './state-name.ts';

type State = SnapshotFrom<ComposedLogic>;
type ComposedEdge = Edge<State>;

const isOwned = ({ connection }: Composed): boolean => connection.context.ownership === 'supervisor';
const stateOf = ({ connection }: Composed): string => stateName(connection.value);
const isReady = (state: Composed): boolean => stateOf(state).startsWith('ready');
const hasBegun = ({ operations }: Composed): boolean => operations.some(({ phase }) => phase === 'begun');
const dialsIn = ({ connection }: Composed): number =>
  Object.values(connection.children as Record<string, { src: unknown } | undefined>).filter(
    (child) => child?.src === 'open',
  ).length;

const noEdge =
  (isWrong: (from: Composed, to: Composed, edge: ComposedEdge) => boolean) =>
  (graph: ComposedGraph): string | undefined => {
    const wrong = graph.edges.find((edge) => isWrong(edge.from.context, edge.to.context, edge));
    return wrong && `${pathTo(graph, wrong.fromKey)} > ${wrong.event}`;
  };

const noOperation = (isWrong: (operation: Operation, state: Composed) => boolean) =>
  noEdge((_, to) => to.operations.some((operation) => isWrong(operation, to)));

const noConfiguration =
  (isWrong: (state: Composed, key: string) => boolean) =>
  (graph: ComposedGraph): string | undefined => {
    const wrong = [...graph.configurations].find(([key, { context }]) => isWrong(context, key));
    return wrong && pathTo(graph, wrong[0]);
  };

export const COMPOSED_PROPERTIES: readonly Property<ComposedGraph>[] = [
  {
    name: 'No operation that is not safe to repeat runs twice.',
    counterexample: noOperation(({ policy, runs }) => policy !== 'safe' && runs > 1),
  },
  {
    name: 'Nothing is sent, and so nothing runs, more than twice.',
    counterexample: noOperation(({ sends, runs }) => sends > 2 || runs > 2),
  },
  {
    name: 'What did not run, as its caller is told, did not run.',
    counterexample: noOperation(({ toldUnrun, runs }) => toldUnrun && runs > 0),
  },
  {
    name: 'Nothing of a connection that belongs to its caller is ever dialled.',
    counterexample: noEdge((_, to) => !isOwned(to) && to.did.dials > 0),
  },
  {
    name: 'No operation on a connection that belongs to its caller is sent twice.',
    counterexample: noOperation(({ sends }, state) => !isOwned(state) && sends > 1),
  },
  {
    name: 'However many operations want it, at most one dial runs at a time.',
    counterexample: noConfiguration((state) => dialsIn(state) > 1),
  },
  {
    name: 'One loss causes one dial, however many operations it struck; another follows only if that one failed.',
    counterexample: noEdge((_, to) => to.did.dialsNotDue > 0),
  },
  {
    name: 'What is learnt of an older generation changes nothing about the current one.',
    counterexample: noEdge(
      (from, to, { event }) => isReady(from) && isAboutOlder(from, event) && stateOf(from) !== stateOf(to),
    ),
  },
  {
    name: 'After close nothing is dialled, and nothing more is sent.',
    counterexample: noEdge(
      (from, { did }) => stateOf(from).startsWith('clos') && (did.dials > 0 || did.sends > 0),
    ),
  },
  {
    name: 'No operation waits for nothing: until it has ended, a request, a dial, a probe, a check or a delay is under way.',
    counterexample: (graph) => {
      const going = new Set(graph.edges.filter(moves).map(({ fromKey }) => fromKey));
      return noConfiguration((state, key) => hasBegun(state) && !going.has(key))(graph);
    },
  },
  {
    name: 'No operation waits for ever: whatever the world does next, all have ended after at most 13 of its events.',
    counterexample: (graph) => {
      const wait = longestWait(graph);
      return wait <= 13 ? undefined : `${wait} events`;
    },
  },
];

/** The world does this by itself, and it makes a difference. */
function moves({ event, fromKey, toKey }: ComposedEdge): boolean {
  return fromKey !== toKey && mustCome(event);
}

/** A report that says so, or what became of a request that was sent on one. */
function isAboutOlder({ operations }: Composed, event: string): boolean {
  const [, number] = /^operation (\d+)/.exec(event) ?? [];
  if (number === undefined) return event.endsWith('of the generation before');
  const { inFlight, onCurrent } = operations[Number(number) - 1]!;
  return inFlight && !onCurrent;
}

/** A shortest way there, in events: the edges are in the order in which they were found. */
function pathTo({ initial, edges }: ComposedGraph, key: string): string {
  const paths = new Map([[initial, 'at first']]);
  for (const { fromKey, event, toKey } of edges) {
    if (!paths.has(toKey)) paths.set(toKey, `${paths.get(fromKey)} > ${event}`);
  }
  return paths.get(key)!;
}

/** The most events of the world until every operation has ended; infinitely many, if it can go round. */
function longestWait({ configurations, edges }: ComposedGraph): number {
  const next = new Map<string, string[]>();
  for (const { fromKey, toKey } of edges.filter(moves)) {
    const list = next.get(fromKey);
    if (list === undefined) next.set(fromKey, [toKey]);
    else list.push(toKey);
  }
  const waits = new Map<string, number>();
  const waitFrom = (key: string): number => {
    if (!hasBegun(configurations.get(key)!.context)) return 0;
    const known = waits.get(key);
    if (known !== undefined) return known;
    // Where nothing moves, it waits for ever; and so does who comes back here before more is known.
    waits.set(key, Number.POSITIVE_INFINITY);
    const onwards = next.get(key);
    if (onwards !== undefined) waits.set(key, 1 + Math.max(...onwards.map(waitFrom)));
    return waits.get(key)!;
  };
  return Math.max(...[...configurations.keys()].map(waitFrom));
}
