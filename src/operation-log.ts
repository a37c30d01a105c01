/** What is decided about an operation in trouble, as lines of the log. Nothing of its parameters is in them. */
import type { SnapshotFrom } from 'xstate';
import type { operationMachine } from '../machines/operation.machine.ts';
import type { Cause, Execution, OperationKind } from '../machines/vocabulary.ts';
import type { Logger } from './logger.ts';

export interface OperationLine {
  readonly connection: string;
  /** The connection's current one. */
  readonly generation: number;
  readonly method: string;
  readonly kind: OperationKind;
  /** What its last failure proved, if it has failed. */
  readonly cause: Cause | undefined;
  readonly execution: Execution | undefined;
}

export type OperationDecision = SnapshotFrom<typeof operationMachine>['value'] | 'sent-again';

/** Of a state that is left at once there is nothing to say, and an ordinary first send is none of a log's business. */
const LINES: Readonly<Record<OperationDecision, readonly [level: keyof Logger, text: string] | undefined>> = {
  judging: undefined,
  confirming: ['debug', 'Operation failed: a probe will tell whether the connection is lost'],
  awaiting: ['debug', 'Operation waits for the connection'],
  sending: undefined,
  'sent-again': ['debug', 'Operation sent again'],
  answered: ['debug', 'Operation answered after trouble'],
  'passed-through': ['debug', 'Operation failed, which was no loss: the error is passed on'],
  refused: ['warn', 'Operation failed: the connection is lost and belongs to its caller'],
  'unknown-outcome': ['warn', 'Operation given up: the server may have run it'],
  unavailable: ['warn', 'Operation given up: there is no usable connection'],
  cancelled: ['debug', 'Operation aborted by its caller'],
  'timed-out': ['warn', 'Operation timed out waiting for the connection'],
};

export function logDecision(logger: Logger, decision: OperationDecision, line: OperationLine): void {
  const found = LINES[decision];
  if (found !== undefined) logger[found[0]](line, found[1]);
}
