// A server written by hand that talks back during a call: its own requests bear the id of that call. Over Streamable
// HTTP (answers as SSE or as JSON), legacy SSE, or stdio. Started with one JSON argument: { transport }.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const { transport } = JSON.parse(process.argv[2]);

/** How often each tool ran, by its key, and what the client answered. */
const runs = new Map();
const answered = [];
/** Answers that are waited for, by the JSON of their ids. */
const awaited = new Map();

const METHODS = {
  ping: ['ping', undefined],
  sampling: [
    'sampling/createMessage',
    { messages: [{ role: 'user', content: { type: 'text', text: 'q' } }], maxTokens: 1 },
  ],
  elicitation: [
    'elicitation/create',
    { message: 'Go on?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
  ],
  roots: ['roots/list', undefined],
  unknown: ['no/such/method', {}],
};

async function ask(send, id, kind) {
  const [method, params] = METHODS[kind];
  const answer = new Promise((resolve) => awaited.set(JSON.stringify(id), resolve));
  send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
  return answer;
}

function tell(send, kind, { id, params }) {
  const log = { level: 'info', data: `about ${id}` };
  const token = params._meta?.progressToken ?? id;
  if (kind === 'log') send({ jsonrpc: '2.0', method: 'notifications/message', params: log });
  if (kind === 'progress') {
    send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1 } });
  }
  if (kind === 'notification') send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
}

/** `send` goes where the server's own messages go, `reply` where the answer goes. */
async function serve(message, send, reply) {
  const { id, method, params } = message;
  if (method === undefined) {
    answered.push(message);
    awaited.get(JSON.stringify(id))?.(message);
    return;
  }
  if (id === undefined) return;
  const result = await resultOf(message, method, params, send);
  reply({ jsonrpc: '2.0', id, result });
}

async function resultOf(message, method, params, send) {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: 'talkative', version: '1.0.0' },
    };
  }
  if (method === 'tools/list') return { tools: [{ name: 'talk', inputSchema: { type: 'object' } }] };
  if (method !== 'tools/call') return {};
  const { kind, key, callId = message.id } = params.arguments;
  runs.set(key, (runs.get(key) ?? 0) + 1);
  // Its very id, that id as a string, and the first ids of every client.
  if (METHODS[kind] !== undefined) {
    for (const each of [callId, String(callId), 0, 1]) await ask(send, each, kind);
  } else tell(send, kind, message);
  // The client's side has handled that before the answer comes.
  await new Promise((resolve) => setTimeout(resolve, 60));
  return { content: [{ type: 'text', text: JSON.stringify({ kind, runs: runs.get(key), id: message.id }) }] };
}

function stream(res) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
  return (message) => res.write(`data: ${JSON.stringify(message)}\n\n`);
}

async function bodyOf(req) {
  let body = '';
  for await (const chunk of req) body += chunk;
  return JSON.parse(body);
}

let listen;
async function handle(req, res) {
  if (req.method === 'DELETE') return res.writeHead(200).end();
  if (req.method === 'GET') {
    listen = stream(res);
    if (transport === 'sse') res.write('event: endpoint\ndata: /message\n\n');
    return;
  }
  const message = await bodyOf(req);
  if (transport === 'sse' || message.method === undefined || message.id === undefined) {
    res.writeHead(202).end();
    return serve(message, listen, (answer) => listen(answer));
  }
  const session = message.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
  if (transport === 'http-json' || message.method === 'initialize') {
    return serve(
      message,
      (own) => listen(own),
      (answer) => {
        res.writeHead(200, { 'content-type': 'application/json', ...session }).end(JSON.stringify(answer));
      },
    );
  }
  const send = stream(res);
  return serve(message, send, (answer) => {
    send(answer);
    res.end();
  });
}

if (transport === 'stdio') {
  const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  createInterface({ input: process.stdin }).on('line', (line) => serve(JSON.parse(line), send, send));
} else {
  const server = createServer(handle);
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('disconnect', () => process.exit());
}
