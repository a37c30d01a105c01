// One server process over Streamable HTTP: the folder of its FaultServer in argv[2]. It listens when it is told to.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { joinControl } from './control.mjs';
import { answerTo } from './mcp.mjs';

/** id → { transport, losing }, see unopened() */
const sessions = new Map();
let sockets = 0;
/** Where this server is, and under which secret path: no page in a browser can guess it. */
let host;
let path;

const http = createServer((req, res) => {
  handle(req, res).catch((error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    res.destroy();
  });
});
// A client must not meet a socket that is just being closed for idleness.
http.keepAliveTimeout = 60_000;
http.on('connection', (socket) => {
  note('sockets', { now: ++sockets });
  socket.once('close', () => note('sockets', { now: --sockets }));
});

const { note, reactionTo } = await joinControl(process.argv[2], { listen, evict });

/** Returns the port. The port of a killed predecessor may not be free at once. */
async function listen({ port, path: secret }) {
  path = secret;
  for (let tries = 1; ; tries++) {
    try {
      await once(http.listen(port, '127.0.0.1'), 'listening');
      host = `127.0.0.1:${http.address().port}`;
      return http.address().port;
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || tries === 200) throw error;
      await after(20);
    }
  }
}

async function evict() {
  const evicted = [...sessions.values()];
  sessions.clear();
  await Promise.all(evicted.map(({ transport }) => transport.close()));
}

async function handle(req, res) {
  if (req.headers.host !== host || req.url !== path) return res.writeHead(404).end();
  const message = req.method === 'POST' ? await json(req).catch(() => null) : undefined;
  if (message === null) return res.writeHead(400).end('Not JSON');
  if (message !== undefined) note('arrived', { method: message.method });
  if (req.method === 'DELETE') note('deleted');

  if (isForgotten(req)) return answerForgotten(res, message);
  const reaction = await reactionTo(message?.method);
  switch (reaction) {
    case 'refuse':
      return res.writeHead(503).end('Service Unavailable');
    case 'forbid':
      return res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('Unauthorized');
    case 'garbage':
      return res.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":');
    case 'ignore':
      return;
  }
  if (isForgotten(req)) return answerForgotten(res, message); // evicted while it was held
  const session = sessions.get(req.headers['mcp-session-id']) ?? (await unopened());
  if (reaction === 'lose-answer') session.losing.set(message.id, res);
  return session.transport.handleRequest(req, res, message);
}

const isForgotten = ({ headers }) =>
  headers['mcp-session-id'] !== undefined && !sessions.has(headers['mcp-session-id']);

function answerForgotten(res, message) {
  const error = { code: -32001, message: 'Session not found' };
  res
    .writeHead(404, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', error, id: message?.id ?? null }));
}

/** A session that `initialize` will open; to anything else its transport answers 400. */
async function unopened() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, session),
  });
  /** `losing`: the requests whose answers are to be lost, id → response */
  const session = { transport, losing: new Map() };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const res = message.method === undefined ? session.losing.get(message.id) : undefined;
    if (res === undefined) return send(message, options);
    session.losing.delete(message.id);
    return cut(res);
  };
  transport.onclose = () => sessions.delete(transport.sessionId);
  transport.onmessage = (message) => {
    const answer = answerTo(message, note);
    if (answer !== undefined) void transport.send(answer, { relatedRequestId: message.id });
  };
  await transport.start();
  return session;
}

/** Destroys the socket of an exchange when the headers of its answer are out. */
async function cut(res) {
  while (!res.headersSent) await after(1);
  // A comment of the event stream: once it is written, so are the headers.
  res.write(': cut\n\n', () => res.destroy());
}
