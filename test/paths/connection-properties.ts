/** What holds for every path of the connection machine, as sentences, each checked by exhaustive search. */
import type { SnapshotFrom } from 'xstate';
import type { connectionMachine } from '../../machines/connection.machine.ts';
import { isIn } from './connection-events.ts';
import type { Edge, Graph } from './graph.ts';
import type { Property } from './property.ts';
import { cycleThrough, longestPath, reachableFrom } from './search.ts';
import { stateName } from './state-name.ts';

type Snapshot = SnapshotFrom<typeof connectionMachine>;
export type ConnectionGraph = Graph<Snapshot>;

const stateOf = ({ value }: Snapshot): string => stateName(value);
const isReady = (snapshot: Snapshot): boolean => stateOf(snapshot).startsWith('ready');
const isOwned = ({ context }: Snapshot): boolean => context.settings.ownership === 'supervisor';
const running = (snapshot: Snapshot, actors: readonly string[]): number =>
  snapshot.status === 'active'
    ? snapshot._nodes.flatMap(({ invoke }) => invoke).filter(({ src }) => actors.includes(String(src))).length
    : 0;
const dialsIn = (snapshot: Snapshot): number => running(snapshot, ['open']);
/** A dial of a recreation begins with the end of the generation before. */
const startsDial = ({ from, to }: Edge<Snapshot>): boolean =>
  stateOf(from) !== stateOf(to) && ['connecting.opening', 'recreating.retiring'].includes(stateOf(to));
const isRecovering = (state: string): boolean => /^(connecting|recreating)/.test(state);
const isLossReport = (event: string): boolean => isIn('lost', event) || event === 'probe lost';
/** What only a host does, or a call of its own. Everything else, the world does by itself. */
const isHosts = (event: string): boolean => /^(demand|reconnect$|replaced$|close$)/.test(event);
/** Of any kind: the kind is the last word, where there is one. */
const isUnsendable = (event: string): boolean =>
  /^demand, (if-unsent, may have run|never, (not run|may have run)|[a-z-]+, answered)/.test(event);

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

const OF_A_CALLER = /^(connecting\.checking|ready\.[a-z]+|failed-ownership|closing|closed)$/;
const AT_REST = [
  'ready.steady',
  'failed-ownership',
  'exhausted.cooling',
  'exhausted.cooled',
  'exhausted.signedOut',
  'closed',
];

const GIVES_BACK = ['after stable', 'answered', 'reconnect', 'authorized'];

export const CONNECTION_PROPERTIES: readonly Property<ConnectionGraph>[] = [
  {
    name: 'No path dials, ends, recreates or waits to recreate what the caller owns.',
    counterexample: noConfiguration(
      (snapshot) =>
        !isOwned(snapshot) &&
        (running(snapshot, ['open', 'retire']) > 0 || !OF_A_CALLER.test(stateOf(snapshot))),
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
    name: 'The loss of a caller-owned connection leads to failed-ownership.',
    counterexample: noEdge(
      (edge) => !isOwned(edge.from) && isLoss(edge) && stateOf(edge.to) !== 'failed-ownership',
    ),
  },
  {
    name: 'The loss of an owned connection rests in lost unless it is eager; it never stays ready.',
    counterexample: noEdge(
      (edge) =>
        isOwned(edge.from) &&
        isLoss(edge) &&
        (isReady(edge.to) ||
          (stateOf(edge.to) === 'lost') !== (edge.from.context.settings.recreate === 'on-demand')),
    ),
  },
  {
    name: 'Silence never ends a caller-owned connection, nor one with an earlier call in flight.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        event.startsWith('unanswered') &&
        (!isOwned(from) || event.includes('earlier call')) &&
        isReady(from) &&
        !isReady(to),
    ),
  },
  {
    name: 'A demand for an operation that may not be sent (again) changes nothing.',
    counterexample: noEdge(({ from, event, to }) => isUnsendable(event) && from !== to),
  },
  {
    name: 'A demand or a report that names another generation changes nothing.',
    counterexample: noEdge(({ from, event, to }) => isIn('of another generation', event) && from !== to),
  },
  {
    name: 'No dial of a recreation begins before the generation before has ended.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        stateOf(to) === 'recreating.opening' && stateOf(from) !== stateOf(to) && event !== 'retired',
    ),
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
      ({ from, event, to }) => event.startsWith('suspected') && isReady(from) && !isReady(to),
    ),
  },
  {
    name: 'At most one dial runs at a time.',
    counterexample: noConfiguration((snapshot) => dialsIn(snapshot) > 1),
  },
  {
    name: 'The dials never exceed the budget.',
    counterexample: noConfiguration(({ context }) => context.attempts > context.settings.maxAttempts),
  },
  {
    name: 'Attempts are given back only by a stable period, an answer, a sign-in or the host’s own reconnect.',
    counterexample: noEdge(
      ({ from, event, to }) => to.context.attempts < from.context.attempts && !GIVES_BACK.includes(event),
    ),
  },
  {
    name: 'There is no loop of dials without a stable period, an answer, a cool-down, a sign-in or the host’s own reconnect in it.',
    counterexample: ({ edges }) => {
      const loop = cycleThrough(
        edges.filter(({ event }) => event !== 'after coolDown' && !GIVES_BACK.includes(event)),
        startsDial,
      );
      return loop && say(loop);
    },
  },
  {
    name: 'Answers alone keep no loop of dials going: without a demand in it, each needs a stable period, a cool-down, a sign-in or the host’s own reconnect.',
    counterexample: ({ edges }) => {
      const loop = cycleThrough(
        edges.filter(
          ({ event }) =>
            !event.startsWith('demand') &&
            !['after stable', 'after coolDown', 'authorized', 'reconnect'].includes(event),
        ),
        startsDial,
      );
      return loop && say(loop);
    },
  },
  {
    name: 'Of a connection that signs in, nothing but a sign-in or the host’s own reconnect leaves a refusal of its credentials.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        stateOf(from) === 'exhausted.signedOut' &&
        stateOf(to) !== stateOf(from) &&
        !['authorized', 'reconnect', 'close'].includes(event),
    ),
  },
  {
    name: 'Being opened, checked or recreated, a connection reaches ready, failed-ownership or exhausted within 3 × maxAttempts events of the world; before the first ready within one more, and resting in lost within one more after the next demand.',
    counterexample: ({ configurations, edges }) => {
      const moves = edges.filter(({ from, event }) => {
        const state = stateOf(from);
        return state === 'lost' ? /^(demand|reconnect)/.test(event) : isRecovering(state) && !isHosts(event);
      });
      for (const [key, snapshot] of configurations) {
        const state = stateOf(snapshot);
        if (state !== 'lost' && !isRecovering(state)) continue;
        const limit =
          3 * snapshot.context.settings.maxAttempts +
          (state === 'lost' || state.startsWith('connecting') ? 1 : 0);
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

/** Definitive, and of the current generation. A probe can only end where one runs. */
function isLoss({ from, event }: Edge<Snapshot>): boolean {
  return isLossReport(event) && (event === 'probe lost' ? stateOf(from) === 'ready.probing' : isReady(from));
}
