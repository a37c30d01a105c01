/** Evidence from JSON-RPC errors and from the SDK's own timers. */
import type { ErrorShape } from './error-shape.ts';
import type { EvidenceRule } from './failure.ts';

const REQUEST_TIMEOUT = -32001;
const SESSION_TERMINATED_CODES: readonly unknown[] = [32600, -32600];
const RPC_PREFIX = /^MCP error -?\d+: /;

const LOCAL_REFUSALS: readonly unknown[] = [
  'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION',
  'CAPABILITY_NOT_SUPPORTED',
];

/** SDK v2 refused before sending. */
export const unsupportedEvidence: EvidenceRule = ({ error }) =>
  LOCAL_REFUSALS.includes(error.code)
    ? { connection: 'usable', execution: 'none', cause: 'unsupported' }
    : undefined;

const UNSUPPORTED_VERSION = -32022;
/** What the SDK's servers of 2025 answer, before they look at anything else. */
const UNSUPPORTED_VERSION_MESSAGE = /^Bad Request: Unsupported protocol version: /;

/** In the body of a refusal, or in an answer that names what is supported: a tool may use the number as its own. */
function saysVersionIsUnsupported({ code, status, body, data }: ErrorShape): boolean {
  if (body?.code === UNSUPPORTED_VERSION) return true;
  if (code === UNSUPPORTED_VERSION) return Array.isArray(data.supported);
  return status === 400 && UNSUPPORTED_VERSION_MESSAGE.test(body?.message ?? '');
}

/** The server is another one since, and has not run what it cannot read. */
export const versionEvidence: EvidenceRule = ({ error, reached }) =>
  reached !== 'elsewhere' && saysVersionIsUnsupported(error)
    ? { connection: 'lost', execution: 'none', cause: 'version-changed' }
    : undefined;

/** What SDK v2 says of an answer that came, and that it does not hand on. */
const UNUSABLE_ANSWERS: readonly unknown[] = [
  'INVALID_RESULT',
  'UNSUPPORTED_RESULT_TYPE',
  'INPUT_REQUIRED_ROUNDS_EXCEEDED',
  'LIST_PAGINATION_EXCEEDED',
];

export const unusableAnswerEvidence: EvidenceRule = ({ error }) =>
  UNUSABLE_ANSWERS.includes(error.code)
    ? { connection: 'usable', execution: 'answered', cause: 'malformed-answer' }
    : undefined;

/** The SDK gave up waiting. A server that relays the very same error is taken for a timeout: one probe tells. */
export function isTimeout(error: ErrorShape, overdue: boolean): boolean {
  return (
    overdue ||
    error.code === 'REQUEST_TIMEOUT' ||
    error.name === 'TimeoutError' ||
    (error.code === REQUEST_TIMEOUT && ('timeout' in error.data || 'maxTotalTimeout' in error.data))
  );
}

export const timeoutEvidence: EvidenceRule = ({ error, overdue }) =>
  isTimeout(error, overdue) ? { connection: 'suspect', execution: 'unknown', cause: 'timeout' } : undefined;

export const rpcEvidence: EvidenceRule = ({ error, reached, trust404 }) => {
  if (!error.isRpc) return undefined;
  // Another origin knows nothing of this server's sessions.
  if (reached === 'elsewhere') return { connection: 'usable', execution: 'answered', cause: 'rpc-error' };
  const message = error.message.replace(RPC_PREFIX, '');
  // How the Python SDK reports a 404, relayed. Only this exact message: the longer one means the opposite.
  if (message === 'Session terminated' && SESSION_TERMINATED_CODES.includes(error.code)) {
    return { connection: 'lost', execution: trust404 ? 'none' : 'unknown', cause: 'session-unknown' };
  }
  if (error.code === REQUEST_TIMEOUT || message === 'Session terminated before the request completed') {
    return { connection: 'suspect', execution: 'unknown', cause: 'session-error' };
  }
  return { connection: 'usable', execution: 'answered', cause: 'rpc-error' };
};
