/** The error with which the wire monitor answers in the server's stead, and what it proves. */
import type { Evidence } from '../../machines/vocabulary.ts';
import type { JsonRpcMessage } from './client-shape.ts';

/** By this very object the error is known again. */
const DATA = Object.freeze({ reason: 'answer-lost' });

const ANSWER_LOST: Evidence = { connection: 'suspect', execution: 'unknown', cause: 'answer-lost' };

const MESSAGE = 'The answer can no longer come: its stream ended before it';

export function answerLost(id: string | number): JsonRpcMessage {
  return { jsonrpc: '2.0', id, error: { code: -32000, message: MESSAGE, data: DATA } };
}

export function isAnswerLost({ error }: JsonRpcMessage): boolean {
  return error !== undefined && error.data === DATA;
}

/** What the monitor has seen of a call that failed with this error. */
export function settledByMonitor(error: unknown): Evidence | undefined {
  return Object(error).data === DATA ? ANSWER_LOST : undefined;
}
