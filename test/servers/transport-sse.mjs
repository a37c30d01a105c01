// Legacy HTTP+SSE of the v1 SDK: GET /sse opens the stream, POST /messages?sessionId=… carries requests.
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { createServer } from './era-v1.mjs';
import { noteDelivered } from './ledger.mjs';
import { refusesSecond } from './one-session.mjs';
import { answerUnknownSession } from './unknown-session.mjs';

/** @param {object} host see http-server.mjs */
export function legacySse(host) {
  const { options, ledger } = host;
  const sessions = new Map();
  const idOf = (req) => new URL(req.url, 'http://x').searchParams.get('sessionId');

  function evict(id, { silent = false } = {}) {
    for (const session of id === undefined ? [...sessions.values()] : [sessions.get(id)]) {
      if (!session) continue;
      sessions.delete(session.id);
      ledger.write('evicted', { session: session.id });
      if (!silent) void session.transport.close();
    }
  }

  return {
    sessions,
    evict,
    sessionOf: idOf,
    knows: (req) => sessions.has(idOf(req)),
    /** Answers travel in the GET stream. */
    inSession: (req) => (message) => void sessions.get(idOf(req))?.transport.send(message),
    async serve(req, res, message) {
      if (req.method === 'GET') {
        if (refusesSecond(host, sessions, res)) return;
        const transport = new SSEServerTransport('/messages', res);
        const id = transport.sessionId;
        const { server, subscribed } = createServer({
          ...host,
          session: id,
          toolsVersion: host.toolsVersion,
          evict,
        });
        transport.onclose = () => sessions.delete(id);
        sessions.set(id, { id, transport, server, subscribed });
        ledger.write('stream', { session: id });
        return server.connect(transport);
      }
      if (req.method !== 'POST') return res.writeHead(405).end();
      const session = sessions.get(idOf(req));
      if (session === undefined) return answerUnknownSession(options.unknownSession, res, message?.id);
      noteDelivered(ledger, message, session.id, req.headers);
      return session.transport.handlePostMessage(req, res, message);
    },
  };
}
