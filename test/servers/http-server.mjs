// One MCP server process on 127.0.0.1, run by fork(): options in argv[2] as JSON, orders over IPC.
// It exits when its parent goes away.
import { createServer as createHttpServer } from 'node:http';
import { Faults } from './faults.mjs';
import { applyFault, BYPASS, runFirst } from './http-faults.mjs';
import { openLedger } from './ledger.mjs';

process.on('disconnect', () => process.exit(0));

const options = JSON.parse(process.argv[2] ?? '{}');
const ledger = openLedger(options.ledger);
const faults = new Faults(options.faults);
const held = new Set();
/** Open GET streams: the standalone stream of a session, or a resumed one. */
const streams = new Set();
const sockets = new Set();

const host = { options, ledger, toolsVersion: options.toolsVersion ?? 1 };
let token = options.requireAuth;

const http = createHttpServer((req, res) => {
  handle(req, res).catch((error) => {
    process.stderr.write(`test server: ${error?.stack ?? error}\n`);
    if (!res.headersSent) res.writeHead(500).end();
    else res.destroy();
  });
});

const transport = await (async () => {
  switch (options.transport ?? 'http') {
    case 'http':
      return (await import('./transport-http.mjs')).stateful(host);
    case 'stateless':
      return (await import('./transport-http.mjs')).stateless(host);
    case 'sse':
      return (await import('./transport-sse.mjs')).legacySse(host);
    case 'modern':
      return (await import('./transport-modern.mjs')).modern(host);
    case 'ws':
      return (await import('./transport-ws.mjs')).webSocket(host, http);
    default:
      throw new Error(`unknown transport ${options.transport}`);
  }
})();

const PATHS = { sse: ['/sse', '/messages'] }[options.transport] ?? ['/mcp'];

http.keepAliveTimeout = options.keepAliveMs ?? 30_000;
http.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});

async function handle(req, res) {
  const body = req.method === 'POST' ? await readBody(req) : undefined;
  const message = parse(body);
  // A batch or an answer to the server's own request has no method; it is never faulted.
  const method = req.method === 'POST' ? message?.method : req.method;
  const bypass = req.headers[BYPASS] !== undefined;

  if (!bypass) note(req, res, message);
  if (!PATHS.includes(new URL(req.url, 'http://x').pathname)) return res.writeHead(404).end('Not Found');
  if (token !== undefined && req.headers.authorization !== `Bearer ${token}`) {
    return res.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end('Unauthorized');
  }
  if (req.method === 'GET') {
    streams.add(res);
    res.once('close', () => streams.delete(res));
  }

  const fault = bypass || method === undefined ? undefined : faults.take(method);
  if (fault !== undefined) {
    ledger.write('fault', { kind: fault.kind, on: method, session: transport.sessionOf(req) });
    if (fault.when === 'after') await runFirst(http.address().port, req, body);
    if (await applyFault(fault, res, { id: message?.id, held, inSession: transport.inSession?.(req) }))
      return;
  }
  return transport.serve(req, res, message);
}

/** The lines of the ledger for what came over the wire, whatever became of it. */
function note(req, res, message) {
  const session = transport.sessionOf(req);
  if (req.method === 'POST') {
    const tool =
      message?.method === 'tools/call'
        ? { tool: message.params?.name, key: message.params?.arguments?.key }
        : {};
    // An answer to the server's own request has no method.
    ledger.write('request', {
      method: message?.method ?? null,
      id: message?.id,
      session,
      known: transport.knows(req),
      ...tool,
    });
    return;
  }
  const lastEventId = req.headers['last-event-id'];
  onStatus(res, (status) =>
    ledger.write(req.method.toLowerCase(), { session, lastEventId, status, path: req.url }),
  );
}

/** Calls back once: with the status when the headers are written, with null when the exchange ends without. */
function onStatus(res, report) {
  const { writeHead } = res;
  const unanswered = () => report(null);
  res.once('close', unanswered);
  res.writeHead = function (status, ...rest) {
    res.writeHead = writeHead;
    res.off('close', unanswered);
    report(status);
    return writeHead.call(this, status, ...rest);
  };
}

async function readBody(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parse(body) {
  try {
    return body && JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

const subscribers = (uri) => [...transport.sessions.values()].filter(({ subscribed }) => subscribed.has(uri));

/** What the harness may order. */
const ORDERS = {
  fault: (...specs) => specs.forEach((spec) => void faults.add(spec)),
  clearFaults: () => faults.clear(),
  release() {
    for (const resume of held) resume();
    held.clear();
  },
  evict: (session, how) => transport.evict(session ?? undefined, how ?? undefined),
  sessions: () => [...transport.sessions.keys()],
  sockets: () => sockets.size,
  streams: () => streams.size,
  /** Ends the GET streams: a clean EOF, or a reset. */
  dropStreams(how = 'eof') {
    for (const res of streams) {
      if (how === 'eof') res.end();
      else res.socket?.resetAndDestroy();
    }
  },
  auth: (next) => {
    token = next ?? undefined;
  },
  unknownSession: (style) => {
    options.unknownSession = style;
  },
  /** The next sessions (and requests, where there are none) see this list of tools. */
  toolsVersion: (version) => {
    host.toolsVersion = version;
  },
  updated(uri) {
    transport.notify?.resourceUpdated(uri);
    for (const { server } of subscribers(uri)) void server.server.sendResourceUpdated({ uri });
  },
  listChanged(times = 1) {
    for (let n = 0; n < times; n++) {
      transport.notify?.toolsChanged();
      for (const { server } of transport.sessions.values()) server.sendToolListChanged();
    }
  },
  stderr: (text) => void process.stderr.write(text),
};

process.on('message', async ({ order, name, args }) => {
  try {
    const result = await ORDERS[name](...args);
    process.send({ order, result: result ?? null });
  } catch (error) {
    process.send({ order, error: String(error) });
  }
});

http.on('error', (error) => {
  process.send({ failed: error.code ?? String(error) }, () => process.exit(1));
});
http.listen(options.port ?? 0, '127.0.0.1', () => {
  ledger.write('spawn', { transport: options.transport ?? 'http' });
  process.send({ port: http.address().port });
});
