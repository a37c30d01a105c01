/** Evidence from HTTP statuses (Streamable HTTP, and the POSTs of legacy SSE). */
import type { Evidence, Execution } from '../../machines/vocabulary.ts';
import { isLegacySsePostFailure } from './error-shape.ts';
import type { EvidenceRule, Failure } from './failure.ts';

const METHOD_NOT_FOUND = -32601;

/** By HTTP semantics the request was turned away before it was acted on. */
const REFUSED_BEFORE_RUNNING: readonly number[] = [307, 308, 406, 413, 415, 429];

/** What the SDK's own servers and examples answer for a session that they do not know, before dispatching. */
const SDK_SESSION_REJECTIONS: readonly string[] = [
  'Bad Request: No valid session ID provided',
  'Bad Request: Server not initialized',
  'Bad Request: Mcp-Session-Id header is required',
];

function mayHaveCarriedSession(failure: Failure): boolean {
  // What does not show its transport was supplied as a session, so its requests name one.
  // A legacy SSE session is named by the endpoint's URL, so each of its POSTs carries it.
  return failure.session !== 'none' || isLegacySsePostFailure(failure.error);
}

/** Without a session, what refuses a probe as well is not the server that the client has connected to. */
function refused({ nothingToLose, isModern, error }: Failure, execution: Execution): Evidence {
  // A server of 2025 without sessions may say 404 of a request that it does not know.
  const isDoubtful = nothingToLose && (isModern || error.status === 400);
  return { connection: isDoubtful ? 'suspect' : 'usable', execution, cause: 'http-refused' };
}

function notFound(failure: Failure): Evidence {
  // At revision 2026-07-28 a 404 whose body is -32601 means an unknown method, not an unknown session.
  const execution = failure.trust404 ? 'none' : 'unknown';
  if (failure.error.body?.code === METHOD_NOT_FOUND) {
    return { connection: 'usable', execution, cause: 'http-refused' };
  }
  if (!mayHaveCarriedSession(failure)) return refused(failure, execution);
  return { connection: 'lost', execution, cause: 'session-unknown' };
}

function badRequest(failure: Failure): Evidence {
  const known = SDK_SESSION_REJECTIONS.includes(failure.error.body?.message ?? '');
  // Without a session named, only an answer that asks for one is about sessions: the caller ended its own.
  if (!known && !mayHaveCarriedSession(failure)) {
    return refused(failure, 'unknown');
  }
  // A proxy that tries a second backend gets this from it as well as a 404.
  const execution = known && failure.trust404 ? 'none' : 'unknown';
  return { connection: 'suspect', execution, cause: 'session-rejected' };
}

/** Said by a Python server whose session ended while the request ran, in a 500. */
const ENDED_WHILE_RUNNING = 'Session terminated before the request completed';

/** The body is the JSON-RPC answer to this very request. */
function isAnswer({ error: { body }, requestId }: Failure): boolean {
  if (body?.id === undefined || requestId === undefined) return false;
  return String(body.id) === String(requestId) && body.message !== ENDED_WHILE_RUNNING;
}

export const httpEvidence: EvidenceRule = (failure) => {
  const { status } = failure.error;
  if (status === undefined) return undefined;
  // What another origin says proves nothing about this server.
  if (failure.reached === 'elsewhere') {
    return { connection: 'usable', execution: 'unknown', cause: 'http-error' };
  }
  if (status >= 500 && isAnswer(failure)) {
    return { connection: 'usable', execution: 'answered', cause: 'rpc-error' };
  }
  switch (status) {
    case 404:
    case 410:
      return notFound(failure);
    case 400:
      return badRequest(failure);
    case 401:
    case 403:
      return { connection: 'usable', execution: 'none', cause: 'unauthorized' };
    case 405:
      return refused(failure, 'none');
    case 503:
      return { connection: 'usable', execution: 'unknown', cause: 'http-error' };
    default:
      if (REFUSED_BEFORE_RUNNING.includes(status)) {
        return { connection: 'usable', execution: 'none', cause: 'http-refused' };
      }
      // One failure of a gateway says nothing about the session behind it.
      if (status >= 500) return { connection: 'usable', execution: 'unknown', cause: 'gateway-error' };
      return { connection: 'suspect', execution: 'unknown', cause: 'http-error' };
  }
};

const MALFORMED_NAMES: readonly string[] = ['SyntaxError', 'ZodError', '$ZodError'];

/** Something answered, but not with an MCP message. */
export const malformedEvidence: EvidenceRule = ({ error }) => {
  const malformed =
    MALFORMED_NAMES.includes(error.name) ||
    error.code === 'CLIENT_HTTP_UNEXPECTED_CONTENT' ||
    (error.code === -1 && !error.isRpc);
  return malformed ? { connection: 'suspect', execution: 'unknown', cause: 'malformed-answer' } : undefined;
};
