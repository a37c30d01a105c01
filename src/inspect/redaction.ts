/**
 * The one list of what may leave the process, for every inspector. What is not here does not leave: no header, no
 * token, no argument, no result and no error text can stand in a field that only takes these values.
 */
import type { Unavailability } from '../../machines/operation.machine.ts';
import {
  CAUSES,
  type DemandedOperation,
  type Evidence,
  type OperationKind,
  type Ownership,
  type ReplayPolicy,
} from '../../machines/vocabulary.ts';

/** Written as records, so that a new word does not compile before somebody has decided about it. */
const OWNERSHIPS: Record<Ownership, true> = {
  supervisor: true,
  'caller-client': true,
  'caller-session': true,
};
const KINDS: Record<OperationKind, true> = {
  discovery: true,
  liveness: true,
  tool: true,
  prompt: true,
  resource: true,
  completion: true,
  logging: true,
  subscription: true,
  task: true,
  other: true,
};
const POLICIES: Record<ReplayPolicy, true> = { safe: true, 'if-unsent': true, never: true };
const EXECUTIONS: Record<DemandedOperation['execution'], true> = {
  unsent: true,
  none: true,
  unknown: true,
  answered: true,
};
const VERDICTS: Record<Evidence['connection'] | 'unanswered', true> = {
  usable: true,
  suspect: true,
  lost: true,
  unanswered: true,
};
const UNAVAILABILITIES: Record<Unavailability, true> = {
  'not-waiting': true,
  'queue-full': true,
  'budget-spent': true,
  'server-missing': true,
  'retry-after': true,
  'sends-spent': true,
  policy: true,
  closed: true,
};

type Check = (value: unknown) => boolean;

function wordOf(words: readonly string[]): Check {
  return (value) => words.includes(value as string);
}

function keyOf(words: object): Check {
  return wordOf(Object.keys(words));
}

const isCount: Check = (value) => Number.isSafeInteger(value);
const isFlag: Check = (value) => typeof value === 'boolean';

const FIELDS: Readonly<Record<string, Check>> = {
  ownership: keyOf(OWNERSHIPS),
  generation: isCount,
  attempts: isCount,
  misses: isCount,
  sends: isCount,
  retryAfterMs: isCount,
  cause: wordOf(CAUSES),
  suspicion: wordOf(CAUSES),
  kind: keyOf(KINDS),
  policy: keyOf(POLICIES),
  execution: keyOf(EXECUTIONS),
  verdict: keyOf(VERDICTS),
  /** Of a piece of evidence: what it says about the connection. */
  connection: keyOf(VERDICTS),
  why: keyOf(UNAVAILABILITIES),
  unavailability: keyOf(UNAVAILABILITIES),
  silentMs: isCount,
  outstanding: isFlag,
  inFlight: isFlag,
  earlierCallInFlight: isFlag,
  overdue: isFlag,
  permanent: isFlag,
  wanted: isFlag,
  serverIsMissing: isFlag,
};

/** What holds fields of the list itself. `error` is the outcome of a dial, `output` that of a probe. */
const HOLDERS = ['evidence', 'operation', 'silence', 'output', 'error'] as const;

export type Allowed = Readonly<Record<string, unknown>>;

export function allowed(value: unknown): Allowed {
  const source = Object(value) as Record<string, unknown>;
  // Of a connection's context, what does not change stands apart.
  const settings = Object(source.settings) as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const [field, mayLeave] of Object.entries(FIELDS)) {
    const found = source[field] ?? settings[field];
    if (found !== undefined && mayLeave(found)) kept[field] = found;
  }
  for (const holder of HOLDERS) {
    const found = source[holder];
    if (typeof found === 'object' && found !== null) kept[holder] = allowed(found);
  }
  return kept;
}
