// The server's own account of what it did: one JSON per line, appended synchronously, so that it
// survives a SIGKILL in the very next instruction.
import { appendFileSync } from 'node:fs';

/** @param {string | undefined} path */
export function openLedger(path) {
  return {
    /** @param {string} event @param {Record<string, unknown>} [facts] */
    write(event, facts = {}) {
      if (path)
        appendFileSync(path, `${JSON.stringify({ event, at: Date.now(), pid: process.pid, ...facts })}\n`);
    },
  };
}

/**
 * Lines for a JSON-RPC message that is handed to the MCP server itself (not answered by a fault or
 * by the session check before it).
 */
export function noteDelivered(ledger, message, session, headers = {}) {
  const params = message.params ?? {};
  switch (message.method) {
    case 'initialize':
      return ledger.write('initialize', {
        session,
        hadSessionHeader: headers['mcp-session-id'] !== undefined,
        protocolVersionHeader: headers['mcp-protocol-version'],
        protocolVersion: params.protocolVersion,
        capabilities: params.capabilities,
        clientInfo: params.clientInfo,
      });
    case 'notifications/initialized':
      return ledger.write('initialized', { session });
    case 'notifications/cancelled':
      return ledger.write('cancelled', { session, requestId: params.requestId });
    case 'resources/subscribe':
      return ledger.write('subscribe', { session, uri: params.uri });
    case 'resources/unsubscribe':
      return ledger.write('unsubscribe', { session, uri: params.uri });
    case 'logging/setLevel':
      return ledger.write('setLevel', { session, level: params.level });
  }
}
