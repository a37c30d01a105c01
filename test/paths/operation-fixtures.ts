/**
 * Every event that the operation machine can meet, and everything that a failure can prove. A new event, or a new
 * word of evidence, does not compile until it stands here.
 */
import type { OperationEvent, operationMachine } from '../../machines/operation.machine.ts';
import { CAUSES, type Cause, type Evidence, type Execution } from '../../machines/vocabulary.ts';
import type { Fixtures } from './graph.ts';

type Connection = Evidence['connection'];
type EvidenceName<C extends Cause = Cause> = `${Connection}, ${Execution}, ${C}`;

const CONNECTIONS = { usable: true, suspect: true, lost: true } as const satisfies Record<Connection, true>;
const EXECUTIONS = { none: true, unknown: true, answered: true } as const satisfies Record<Execution, true>;

/** One cause of each of the meanings that a failure can have (operation-table.ts). */
const EXAMPLES = [
  'timeout',
  'unreachable',
  'session-rejected',
  'gateway-error',
] as const satisfies readonly Cause[];
type Example = (typeof EXAMPLES)[number];

/** Everything that can be said of a failure. */
export const ALL_EVIDENCE: readonly Evidence[] = evidenceOf(CAUSES);
export const EXAMPLE_EVIDENCE: readonly Evidence[] = evidenceOf(EXAMPLES);

const SENT = {
  usable: { usable: { type: 'usable' } },
  lost: { lost: { type: 'lost' } },
  unavailable: {
    'unavailable, budget spent': { type: 'unavailable', why: 'budget-spent' },
    'unavailable, server missing': { type: 'unavailable', why: 'server-missing' },
    'unavailable, retry after': { type: 'unavailable', why: 'retry-after' },
    'unavailable, closed': { type: 'unavailable', why: 'closed' },
  },
  refused: { refused: { type: 'refused' } },
  answered: { answered: { type: 'answered' } },
  failed: failures(),
  deadline: { deadline: { type: 'deadline' } },
  abort: { abort: { type: 'abort' } },
} as const satisfies { [T in OperationEvent['type']]: Record<string, Extract<OperationEvent, { type: T }>> };

type KeysWithin<T> = { [K in keyof T]: keyof T[K] }[keyof T];

export type OperationEventName = KeysWithin<typeof SENT>;

export const OPERATION_EVENTS = Object.assign({}, ...Object.values(SENT)) as Record<
  OperationEventName,
  OperationEvent
>;

export const OPERATION_FIXTURES = Object.fromEntries(
  Object.entries(OPERATION_EVENTS).map(([name, event]) => [name, () => event]),
) as Fixtures<typeof operationMachine>;

function nameOf({ connection, execution, cause }: Evidence): EvidenceName {
  return `${connection}, ${execution}, ${cause}`;
}

function evidenceOf(causes: readonly Cause[]): Evidence[] {
  return (Object.keys(CONNECTIONS) as Connection[]).flatMap((connection) =>
    (Object.keys(EXECUTIONS) as Execution[]).flatMap((execution) =>
      causes.map((cause) => ({ connection, execution, cause })),
    ),
  );
}

function failures() {
  type Failed = Extract<OperationEvent, { type: 'failed' }>;
  return Object.fromEntries(
    EXAMPLE_EVIDENCE.map((evidence) => [`failed: ${nameOf(evidence)}`, { type: 'failed', evidence }]),
  ) as Record<`failed: ${EvidenceName<Example>}`, Failed>;
}
