import type { SnapshotFrom } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { answerToConfirming, answerToWaiting } from '../../src/trouble-answers.ts';
import { connectionKey } from './connection-key.ts';
import { whatCallerGets } from './operation-ends.ts';
import { operationKey } from './operation-key.ts';
import { PureMachine } from './pure-machine.ts';

/** What is composed. A test puts a broken one in the place of each. */
export const REAL = { connectionMachine, operationMachine, answerToWaiting, answerToConfirming };

/** The machines of one connection and its operations, and what is between them. */
export class Parts {
  readonly connection: PureMachine<typeof connectionMachine>;
  readonly operation: PureMachine<typeof operationMachine>;
  readonly answerToWaiting: typeof answerToWaiting;
  readonly answerToConfirming: typeof answerToConfirming;
  readonly #saysUnrun = new Map<string, boolean>();

  constructor(parts: typeof REAL) {
    this.connection = new PureMachine(parts.connectionMachine, connectionKey);
    this.operation = new PureMachine(
      parts.operationMachine,
      (snapshot) => `${snapshot.context.policy} ${operationKey(snapshot)}`,
    );
    this.answerToWaiting = parts.answerToWaiting;
    this.answerToConfirming = parts.answerToConfirming;
  }

  /** Is the caller told, by an error of ours, that the server did not run it? */
  saysUnrun(snapshot: SnapshotFrom<typeof operationMachine>, sends: number): boolean {
    const end = `${this.operation.idOf(snapshot)} ${sends}`;
    const { value, context } = snapshot;
    const known = this.#saysUnrun.get(end) ?? isSaidUnrun(whatCallerGets(value, context, sends));
    this.#saysUnrun.set(end, known);
    return known;
  }
}

function isSaidUnrun(got: unknown): boolean {
  return got instanceof Error && /was not (sent|run by the server)\./.test(got.message);
}
