import type { Cause, Evidence } from '../../machines/vocabulary.ts';
import { classify } from '../../src/evidence/classify.ts';
import { shapeOf } from '../../src/evidence/error-shape.ts';
import type { Failure } from '../../src/evidence/failure.ts';

/** What was known of the request apart from its error. */
export type Facts = Partial<Omit<Failure, 'error'>>;

/** A request of an established session, on an open transport, sent once. */
const FACTS: Omit<Failure, 'error'> = {
  session: 'carried',
  nothingToLose: false,
  isModern: false,
  aborted: false,
  overdue: false,
  transportClosed: false,
  earlierLegMayHaveRun: false,
  observed: undefined,
  reached: 'endpoint',
  requestId: undefined,
  trust404: true,
};

export function judge(error: unknown, facts: Facts = {}): Evidence {
  return classify({ ...FACTS, ...facts, error: shapeOf(error) });
}

/** `lost none` and so on, and where the table names it, the cause. */
export type Expected = `${Evidence['connection']} ${Evidence['execution']} ${Cause}`;

export const say = ({ connection, execution, cause }: Evidence): Expected =>
  `${connection} ${execution} ${cause}`;

/** One line of a table: what happened, its error, the expected evidence, and what else was known. */
export type Row = [what: string, error: () => unknown, expected: Expected, facts?: Facts];
