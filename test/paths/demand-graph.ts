/** Both machines, where they meet: what the operation's demands, and what the connection's makes of a demand. */
import { initialTransition, type SnapshotFrom, transition } from 'xstate';
import { type ConnectionEvent, connectionMachine } from '../../machines/connection.machine.ts';
import { type OperationInput, operationMachine } from '../../machines/operation.machine.ts';
import type { DemandedOperation, Ownership } from '../../machines/vocabulary.ts';
import { BUDGET } from '../machines/connection-driver.ts';
import { EXECUTION_WORDS, OPERATION_KINDS, REPLAY_POLICIES } from './connection-fixtures.ts';
import { OPERATION_BEGINNINGS } from './operation-graph.ts';
import { stateName } from './state-name.ts';

export const MACHINES = { connectionMachine, operationMachine };
export type Machines = typeof MACHINES;

type Connection = SnapshotFrom<typeof connectionMachine>;

export const OWNERSHIPS: readonly Ownership[] = ['supervisor', 'caller-client', 'caller-session'];

/** Every demand that could be made. */
export const DEMANDS: readonly DemandedOperation[] = OPERATION_KINDS.flatMap((kind) =>
  REPLAY_POLICIES.flatMap((policy) =>
    Object.values(EXECUTION_WORDS).map((execution) => ({ kind, policy, execution })),
  ),
);

/** Everything that can be judged: never sent, or failed after one send, two, or more. */
const JUDGED: readonly OperationInput[] = OPERATION_BEGINNINGS.flatMap(([, input]) =>
  input.evidence === null ? [input] : [1, 2, 3].map((sends) => ({ ...input, sends })),
);

/** What `judging` demands of a connection of this ownership, by name. */
export function demandsFromJudging({ operationMachine: machine }: Machines, ownership: Ownership) {
  const demanded = new Map<string, DemandedOperation>();
  for (const input of JUDGED) {
    if (input.ownership !== ownership) continue;
    for (const { type, params } of initialTransition(machine, input)[1]) {
      if (type !== 'demandConnection') continue;
      const operation = params as unknown as DemandedOperation;
      demanded.set(nameOf(operation), operation);
    }
  }
  return demanded;
}

export function nameOf({ kind, policy, execution }: DemandedOperation): string {
  return `${kind}, ${policy}, ${execution}`;
}

const DEMANDED_IN = ['idle', 'lost', { exhausted: 'cooled' }] as const;

/** Ready before or never, the budget spent or not. */
const HISTORIES = [0, 1].flatMap((generation) =>
  [1, BUDGET.maxAttempts].map((attempts) => ({ generation, attempts })),
);

interface Demanded {
  readonly state: string;
  readonly isAccepted: boolean;
}

/**
 * What becomes of a demand in each state that it can leave, whatever was before. It
 * is accepted if it leads to anything else than an event does that is illegal there: a state in which a connection of
 * its caller's cannot rest is left all the same.
 */
export function demandIn(
  { connectionMachine: machine }: Machines,
  ownership: Ownership,
  operation: DemandedOperation,
): Demanded[] {
  const [initial] = initialTransition(machine, { ...BUDGET, ownership, lazy: true });
  return DEMANDED_IN.flatMap((value) =>
    HISTORIES.map((history) => {
      const context = { ...initial.context, ...history };
      const { generation } = context;
      const from = machine.resolveState({ value, context });
      const after = (event: ConnectionEvent) => wholeOf(transition(machine, from, event)[0]);
      const isAccepted =
        after({ type: 'demand', generation, operation }) !== after({ type: 'heard', generation });
      return { state: stateName(value), isAccepted };
    }),
  );
}

function wholeOf({ value, context, status, children }: Connection): string {
  return JSON.stringify({ value, context, status, children: Object.keys(children) });
}
