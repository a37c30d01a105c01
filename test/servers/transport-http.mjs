// Streamable HTTP of the v1 SDK: one transport and one McpServer per session, or (stateless) per request.
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createServer } from './era-v1.mjs';
import { MemoryEventStore } from './event-store.mjs';
import { noteDelivered } from './ledger.mjs';
import { refusesSecond } from './one-session.mjs';
import { answerUnknownSession } from './unknown-session.mjs';

/** @param {object} host see http-server.mjs */
export function stateful(host) {
  const { options, ledger } = host;
  /** id → { transport, server, subscribed } */
  const sessions = new Map();
  // The harness drops what a dead session would remember too: the store belongs to the process.
  const eventStore = options.eventStore ? new MemoryEventStore() : undefined;

  async function open(id) {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      enableJsonResponse: options.answers === 'json',
      ...(eventStore && { eventStore, retryInterval: options.retryIntervalMs ?? 100 }),
    });
    const { server, subscribed } = createServer({
      ...host,
      session: id,
      toolsVersion: host.toolsVersion,
      evict,
    });
    transport.onclose = () => sessions.delete(id);
    await server.connect(transport);
    const session = { id, transport, server, subscribed };
    sessions.set(id, session);
    return session;
  }

  function evict(id, { silent = false } = {}) {
    for (const session of id === undefined ? [...sessions.values()] : [sessions.get(id)]) {
      if (!session) continue;
      sessions.delete(session.id);
      ledger.write('evicted', { session: session.id });
      if (!silent) void session.transport.close(); // ends its open streams cleanly
    }
  }

  return {
    sessions,
    evict,
    sessionOf: (req) => req.headers['mcp-session-id'] ?? null,
    knows: (req) => sessions.has(req.headers['mcp-session-id']),
    async serve(req, res, message) {
      const id = req.headers['mcp-session-id'];
      if (req.method === 'POST' && message?.method === 'initialize') {
        if (refusesSecond(host, sessions, res)) return;
        const session = await open(randomUUID());
        noteDelivered(ledger, message, session.id, req.headers);
        return session.transport.handleRequest(req, res, message);
      }
      if (id === undefined) {
        const error = { code: -32000, message: 'Bad Request: Mcp-Session-Id header is required' };
        return res
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      }
      const session = sessions.get(id);
      if (session === undefined) return answerUnknownSession(options.unknownSession, res, message?.id);
      if (message) noteDelivered(ledger, message, id, req.headers);
      return session.transport.handleRequest(req, res, message);
    },
  };
}

/** @param {object} host */
export function stateless(host) {
  const { options, ledger } = host;
  return {
    sessions: new Map(),
    evict() {},
    sessionOf: () => null,
    knows: () => true,
    async serve(req, res, message) {
      if (req.method !== 'POST') return res.writeHead(405, { allow: 'POST' }).end();
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: undefined,
        enableJsonResponse: options.answers === 'json',
      });
      const { server } = createServer({
        ...host,
        session: null,
        toolsVersion: host.toolsVersion,
        evict() {},
      });
      res.once('close', () => void server.close());
      await server.connect(transport);
      noteDelivered(ledger, message, null, req.headers);
      return transport.handleRequest(req, res, message);
    },
  };
}
