/** What holds for every path of the connection machine, as sentences, each checked by exhaustive search. */
import type { SnapshotFrom } from 'xstate';
import type { connectionMachine } from '../../machines/connection.machine.ts';
import { EVENT_GROUPS } from './connection-table.ts';
import type { Edge, Graph } from './graph.ts';
import type { Property } from './property.ts';
import { cycleThrough, longestPath, reachableFrom } from './search.ts';
import { stateName } from './state-name.ts';

type Snapshot = SnapshotFrom<typeof connectionMachine>;
export type ConnectionGraph = Graph<Snapshot>;

const stateOf = ({ value }: Snapshot): string => stateName(value);
const isOwned = ({ context }: Snapshot): boolean => context.ownership === 'supervisor';
const dialsIn = (snapshot: Snapshot): number =>
  snapshot.status === 'active'
    ? snapshot._nodes.flatMap(({ invoke }) => invoke).filter(({ src }) => src === 'open').length
    : 0;
const startsDial = ({ from, to }: Edge<Snapshot>): boolean =>
  dialsIn(to) > 0 && stateOf(from) !== stateOf(to);
const isRecovering = (state: string): boolean => /^(connecting|recreating)/.test(state);
const isLossReport = (event: string): boolean => /^(lost|probe lost)/.test(event) && !isStale(event);
const isStale = (event: string): boolean =>
  (EVENT_GROUPS['report of another generation'] as readonly string[]).includes(event);
/** What only a host does, or a call of its own. Everything else, the world does by itself. */
const isHosts = (event: string): boolean => ['demand', 'reconnect', 'replaced', 'close'].includes(event);

const say = ({ from, event, to }: Edge<Snapshot>): string => `${stateOf(from)} > ${event} > ${stateOf(to)}`;

const noEdge =
  (isWrong: (edge: Edge<Snapshot>) => boolean) =>
  ({ edges }: ConnectionGraph): string | undefined => {
    const wrong = edges.find(isWrong);
    return wrong && say(wrong);
  };

const noConfiguration =
  (isWrong: (snapshot: Snapshot) => boolean) =>
  ({ configurations }: ConnectionGraph): string | undefined => {
    const wrong = [...configurations].find(([, snapshot]) => isWrong(snapshot));
    return wrong?.[0];
  };

const OF_A_CALLER = [
  'connecting.checking',
  'ready.steady',
  'ready.probing',
  'failed-ownership',
  'closing',
  'closed',
];
const AT_REST = ['ready.steady', 'failed-ownership', 'exhausted.cooling', 'closed'];

export const CONNECTION_PROPERTIES: readonly Property<ConnectionGraph>[] = [
  {
    name: 'No path dials, recreates or waits to recreate what the caller owns.',
    counterexample: noConfiguration(
      (snapshot) => !isOwned(snapshot) && (dialsIn(snapshot) > 0 || !OF_A_CALLER.includes(stateOf(snapshot))),
    ),
  },
  {
    name: 'Only the check of what the caller supplied gives a caller-owned connection a generation.',
    counterexample: noEdge(
      ({ from, to, event }) =>
        !isOwned(from) && to.context.generation !== from.context.generation && event !== 'verified',
    ),
  },
  {
    name: 'The loss of a caller-owned connection leads to failed-ownership, whatever was stricken.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        !isOwned(from) &&
        stateOf(from).startsWith('ready') &&
        isLossReport(event) &&
        happens({ from, event }) &&
        stateOf(to) !== 'failed-ownership',
    ),
  },
  {
    name: 'The loss of an owned connection rests in lost only if nobody wants it back; it never stays ready.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        isOwned(from) &&
        stateOf(from).startsWith('ready') &&
        isLossReport(event) &&
        happens({ from, event }) &&
        (stateOf(to).startsWith('ready') ||
          (stateOf(to) === 'lost' && (from.context.wanted || from.context.recreate === 'eager'))),
    ),
  },
  {
    name: 'A report about another generation changes nothing.',
    counterexample: noEdge(({ from, event, to }) => isStale(event) && from !== to),
  },
  {
    name: 'A generation begins, by one, only when a handshake or a check has finished.',
    counterexample: noEdge(({ from, event, to }) => {
      const grown = to.context.generation - from.context.generation;
      const finished =
        ['opened', 'verified'].includes(event) &&
        isRecovering(stateOf(from)) &&
        stateOf(to) === 'ready.steady';
      return grown !== (finished ? 1 : 0);
    }),
  },
  {
    name: 'A suspicion alone never ends a generation.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        event.startsWith('suspected') &&
        stateOf(from).startsWith('ready') &&
        !stateOf(to).startsWith('ready'),
    ),
  },
  {
    name: 'At most one dial runs at a time.',
    counterexample: noConfiguration((snapshot) => dialsIn(snapshot) > 1),
  },
  {
    name: 'The dials never exceed the budget.',
    counterexample: noConfiguration(({ context }) => context.attempts > context.maxAttempts),
  },
  {
    name: 'Attempts are given back only by a stable period or by the host’s own reconnect.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        to.context.attempts < from.context.attempts && !['after stable', 'reconnect'].includes(event),
    ),
  },
  {
    name: 'There is no loop of dials without a stable period, a cool-down or the host’s own reconnect in it.',
    counterexample: ({ edges }) => {
      const loop = cycleThrough(
        edges.filter(({ event }) => !['after stable', 'after coolDown', 'reconnect'].includes(event)),
        startsDial,
      );
      return loop && say(loop);
    },
  },
  {
    name: 'Being opened, checked or recreated, a connection reaches ready, failed-ownership or exhausted within 2 × maxAttempts events of the world; resting in lost, within one more after the next demand.',
    counterexample: ({ configurations, edges }) => {
      const moves = edges.filter(({ from, event }) => {
        const state = stateOf(from);
        return state === 'lost'
          ? ['demand', 'reconnect'].includes(event)
          : isRecovering(state) && !isHosts(event);
      });
      for (const [key, snapshot] of configurations) {
        const state = stateOf(snapshot);
        if (state !== 'lost' && !isRecovering(state)) continue;
        const limit = 2 * snapshot.context.maxAttempts + (state === 'lost' ? 1 : 0);
        const steps = longestPath(moves, key, (end) => AT_REST.includes(stateOf(end)));
        if (steps === undefined || steps > limit) return `${key}: ${steps ?? 'no end, or another one'}`;
      }
      return undefined;
    },
  },
  {
    name: 'After close nothing is dialled, and the only way out of closing is closed.',
    counterexample: ({ edges }) => {
      const after = reachableFrom(edges, ({ event, to }) => event === 'close' && stateOf(to) === 'closing');
      const wrong = edges.find(
        ({ fromKey, to }) => after.has(fromKey) && !['closing', 'closed'].includes(stateOf(to)),
      );
      return wrong && say(wrong);
    },
  },
  {
    name: 'A connection can be closed in every state, and closed is an end.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        stateOf(from) === 'closed' || (event === 'close' && !['closing', 'closed'].includes(stateOf(to))),
    ),
  },
];

/** A probe can only end where one runs. */
function happens({ from, event }: Pick<Edge<Snapshot>, 'from' | 'event'>): boolean {
  return !event.startsWith('probe') || stateOf(from) === 'ready.probing';
}
