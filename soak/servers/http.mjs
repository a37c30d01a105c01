// The soak's server over HTTP: {kind, journal, port} as JSON in argv[2], orders over IPC. It ends with its parent.
// Connections are told apart by their header `x-connection`.
import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { EventStore } from './event-store.mjs';
import { openJournal } from './journal.mjs';
import { serve } from './mcp.mjs';
import { modernHandler } from './modern.mjs';

process.on('disconnect', () => process.exit(0));

const { kind, journal: journalPath, port } = JSON.parse(process.argv[2]);
const journal = openJournal(journalPath);
/** id → transport */
const sessions = new Map();
const sockets = new Set();
const resumable = kind === 'resumable' ? { eventStore: new EventStore(), retryInterval: 100 } : {};

async function open(transport, session, connection) {
  transport.onclose = () => sessions.delete(session);
  sessions.set(session, transport);
  await serve(journal, transport, { connection, session, answersJson: kind === 'json' });
}

async function streamable(req, res, body) {
  const id = req.headers['mcp-session-id'];
  if (id === undefined && body?.method === 'initialize') {
    const session = randomUUID();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => session,
      enableJsonResponse: kind === 'json',
      ...resumable,
    });
    await open(transport, session, req.headers['x-connection']);
    return transport.handleRequest(req, res, body);
  }
  const transport = sessions.get(id);
  if (transport === undefined) return refuse(res, id === undefined ? 400 : 404, body?.id);
  if (req.method === 'DELETE') journal.write('deleted', { session: id });
  return transport.handleRequest(req, res, body);
}

async function legacySse(req, res, body) {
  if (req.method === 'GET') {
    const transport = new SSEServerTransport('/messages', res);
    return open(transport, transport.sessionId, req.headers['x-connection']);
  }
  const transport = sessions.get(new URL(req.url, 'http://x').searchParams.get('sessionId'));
  if (transport === undefined) return refuse(res, 404, body?.id);
  return transport.handlePostMessage(req, res, body);
}

function refuse(res, status, id) {
  const error = { code: -32001, message: 'Session not found' };
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error, id: id ?? null }));
}

async function bodyOf(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

const handle =
  { legacy: legacySse, modern: kind === 'modern' ? modernHandler(journal) : undefined }[kind] ?? streamable;
const http = createHttpServer((req, res) => {
  bodyOf(req)
    .then((body) => handle(req, res, body))
    // A request that was cut short.
    .catch(() => res.destroy());
});
http.keepAliveTimeout = 5_000;
http.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});

const ORDERS = {
  evict({ all, silently }) {
    for (const [session, transport] of [...sessions].slice(all ? 0 : -1)) {
      sessions.delete(session);
      journal.write('evicted', { session });
      if (!silently) void transport.close();
    }
  },
  sessions: () => [...sessions.keys()],
  sockets: () => sockets.size,
};

process.on('message', ({ order, name, args }) => process.send({ order, result: ORDERS[name](args) ?? null }));

http.listen(port, '127.0.0.1', () => {
  journal.write('spawn');
  process.send({ port: http.address().port });
});
