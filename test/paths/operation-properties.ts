/** What holds for every path of the operation machine, as sentences, each checked by exhaustive search. */
import type { SnapshotFrom } from 'xstate';
import { MAX_SENDS, type operationMachine } from '../../machines/operation.machine.ts';
import type { Edge } from './graph.ts';
import type { OperationGraph } from './operation-graph.ts';
import type { Property } from './property.ts';
import { longestPath } from './search.ts';

type Snapshot = SnapshotFrom<typeof operationMachine>;

const say = ({ from, event, to }: Edge<Snapshot>): string => `${from.value} > ${event} > ${to.value}`;

const noEdge =
  (isWrong: (edge: Edge<Snapshot>) => boolean) =>
  ({ edges }: OperationGraph): string | undefined => {
    const wrong = edges.find(isWrong);
    return wrong && say(wrong);
  };

const isSentBy = ({ from, to }: Edge<Snapshot>): boolean =>
  to.value === 'sending' && from.value !== 'sending';
const isOver = ({ status }: Snapshot): boolean => status === 'done';
/** After its first send, a caller-owned connection is out of the question, and so is what may have run. */
const wasSent = ({ context }: Snapshot): boolean => context.sends > 0;

export const OPERATION_PROPERTIES: readonly Property<OperationGraph>[] = [
  {
    name: 'No path sends again what may have run and is not safe.',
    counterexample: noEdge(
      (edge) =>
        isSentBy(edge) &&
        edge.from.context.evidence?.execution === 'unknown' &&
        edge.from.context.policy !== 'safe',
    ),
  },
  {
    name: 'No path forgets that an earlier send may have run.',
    counterexample: noEdge(
      ({ from, to }) =>
        from.context.evidence?.execution === 'unknown' && to.context.evidence?.execution === 'none',
    ),
  },
  {
    name: 'No path sends again what its policy says is never to be sent again, or what the server has answered.',
    counterexample: noEdge(
      (edge) =>
        isSentBy(edge) &&
        wasSent(edge.from) &&
        (edge.from.context.policy === 'never' || edge.from.context.evidence?.execution === 'answered'),
    ),
  },
  {
    name: 'No path sends an operation again on a connection that belongs to its caller.',
    counterexample: noEdge(
      (edge) => isSentBy(edge) && wasSent(edge.from) && edge.from.context.ownership !== 'supervisor',
    ),
  },
  {
    name: `Nothing is sent more than ${MAX_SENDS} times.`,
    counterexample: ({ configurations }) =>
      [...configurations].find(([, { context }]) => context.sends > MAX_SENDS)?.[0],
  },
  {
    name: 'What has failed without a loss ends at once with that failure, but for a gateway’s on an owned connection.',
    counterexample: noEdge(
      ({ from, event, to }) =>
        from.value === 'sending' &&
        event.startsWith('failed: usable') &&
        !(from.context.ownership === 'supervisor' && event.endsWith('gateway-error')) &&
        to.value !== 'passed-through',
    ),
  },
  {
    name: 'After the deadline nothing is sent, except what was under way.',
    counterexample: noEdge((edge) => isSentBy(edge) && edge.from.context.overdue),
  },
  {
    name: 'Every path comes to an end within 7 events that change something, and an end is an end.',
    counterexample: ({ initial, configurations, edges }) => {
      if (isOver(configurations.get(initial)!)) return undefined;
      const moves = edges.filter(({ fromKey, toKey }) => fromKey !== toKey);
      const steps = longestPath(moves, initial, isOver);
      return steps !== undefined && steps <= 7 ? undefined : `${steps ?? 'no end'}`;
    },
  },
];
