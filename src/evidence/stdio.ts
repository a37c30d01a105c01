/** Evidence from a transport that closes for good: stdio, WebSocket, in-memory. */
import type { EvidenceRule } from './failure.ts';

const CONNECTION_CLOSED = -32000;

/** The client had no transport: the SDK refused before sending (v1 and v2 throw the same plain error). */
export const notConnectedEvidence: EvidenceRule = ({ error }) => {
  const refused =
    error.code === 'NOT_CONNECTED' ||
    (!error.isRpc && error.code === undefined && error.message === 'Not connected');
  return refused ? { connection: 'lost', execution: 'none', cause: 'not-connected' } : undefined;
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

/** v1's -32000 is also what a gateway relays in-band, so it counts only if this transport really closed. */
export const closedEvidence: EvidenceRule = ({ error, transportClosed }) => {
  const closed = error.code === 'CONNECTION_CLOSED' || (transportClosed && error.code === CONNECTION_CLOSED);
  return closed ? { connection: 'lost', execution: 'unknown', cause: 'connection-closed' } : undefined;
};
