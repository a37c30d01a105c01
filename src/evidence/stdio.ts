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

/** The write to stdin failed for this very message, so no whole line reached the server. */
export const unwrittenEvidence: EvidenceRule = ({ error }) =>
  error.code === UNWRITTEN ? { connection: 'lost', execution: 'none', cause: 'unwritten' } : undefined;

/** v1's -32000 is also what a gateway relays in-band, so it counts only if this transport really closed. */
export const closedEvidence: EvidenceRule = ({ error, transportClosed }) => {
  const closed = error.code === 'CONNECTION_CLOSED' || (transportClosed && error.code === CONNECTION_CLOSED);
  return closed ? { connection: 'lost', execution: 'unknown', cause: 'connection-closed' } : undefined;
};
