// Revision 2026-07-28 by the v2 SDK: no session, no initialize. 2025-era clients get its stateless leg.
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createServer } from './era-v2.mjs';
import { noteDelivered } from './ledger.mjs';

/** @param {object} host see http-server.mjs */
export function modern(host) {
  const { options, ledger } = host;
  const handler = createMcpHandler(
    () => createServer({ ...host, session: null, toolsVersion: host.toolsVersion, evict() {} }),
    { responseMode: options.answers ?? 'auto', legacy: options.legacy ?? 'stateless' },
  );
  const node = toNodeHandler(handler);
  return {
    sessions: new Map(),
    /** There is no session: the whole handler closes (HTTP 499 in flight, 500 afterwards). */
    evict: () => void handler.close(),
    notify: handler.notify,
    sessionOf: () => null,
    knows: () => true,
    serve(req, res, message) {
      if (message) noteDelivered(ledger, message, null, req.headers);
      return node(req, res, message);
    },
  };
}
