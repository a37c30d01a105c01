/** Evidence from a transport that closes for good: stdio, WebSocket, in-memory. */
import type { ErrorShape } from './error-shape.ts';
import type { EvidenceRule } from './failure.ts';

const CONNECTION_CLOSED = -32000;

/** The client has no transport: the SDK refused before sending (v1 and v2 throw the same plain error). */
function saysNotConnected({ code, isRpc, message }: ErrorShape): boolean {
  return code === 'NOT_CONNECTED' || (!isRpc && code === undefined && message === 'Not connected');
}

/** The SDK's words for a client that has no transport, or lost it. A host's own code may say the same of another. */
export function saysClosed(error: ErrorShape): boolean {
  return saysNotConnected(error) || error.code === CONNECTION_CLOSED || error.code === 'CONNECTION_CLOSED';
}

/** It counts only if this transport really closed; where that is not to be seen, a probe tells. */
export const notConnectedEvidence: EvidenceRule = ({ error, transportClosed, session }) => {
  if (!saysNotConnected(error)) return undefined;
  if (transportClosed) return { connection: 'lost', execution: 'none', cause: 'not-connected' };
  return session === 'unseen'
    ? { connection: 'suspect', execution: 'none', cause: 'not-connected' }
    : { connection: 'usable', execution: 'unknown', cause: 'unrecognised' };
};

/** The code of the error with which our stdio transport rejects a message that it could not write. */
export const UNWRITTEN = 'MCP_STEWARD_UNWRITTEN';

/** Nothing of this message was put into the pipe to the server. */
export const unwrittenEvidence: EvidenceRule = ({ error }) =>
  error.code === UNWRITTEN ? { connection: 'lost', execution: 'none', cause: 'unwritten' } : undefined;

/** The code of the error with which our stdio transport rejects a message whose write failed after it had begun. */
export const WRITE_CUT = 'MCP_STEWARD_WRITE_CUT';

/** Some of this message was in the pipe, all of it perhaps, and the server may have read it before it died. */
export const writeCutEvidence: EvidenceRule = ({ error }) =>
  error.code === WRITE_CUT ? { connection: 'lost', execution: 'unknown', cause: 'request-cut' } : undefined;

/** v1's -32000 is also what a gateway relays in-band, and a host's own code may throw either of another connection. */
export const closedEvidence: EvidenceRule = ({ error, transportClosed, session }) => {
  if (transportClosed && saysClosed(error)) {
    return { connection: 'lost', execution: 'unknown', cause: 'connection-closed' };
  }
  if (error.code !== 'CONNECTION_CLOSED') return undefined;
  return session === 'unseen'
    ? { connection: 'suspect', execution: 'unknown', cause: 'connection-closed' }
    : { connection: 'usable', execution: 'unknown', cause: 'unrecognised' };
};
