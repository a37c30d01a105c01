// A Streamable HTTP server in a process of its own. Counts what reached it, forgets
// all sessions when told to, and answers an unknown session with 404.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const sessions = new Map();
const counts = { initialize: 0, call: 0, unknown: 0 };

async function open() {
  const server = new McpServer({ name: 'bench-server', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => {
    counts.call++;
    return { content: [{ type: 'text', text }] };
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      counts.initialize++;
      sessions.set(id, transport);
    },
  });
  await server.connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await open() : sessions.get(id);
  if (transport !== undefined) return transport.handleRequest(request, response);
  counts.unknown++;
  request.resume();
  const error = { code: -32001, message: 'Session not found' };
  response
    .writeHead(404, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
});

const orders = {
  forget: () => sessions.clear(),
  counts: () => Object.assign({}, counts),
};

process.on('message', ({ id, order }) => process.send({ id, result: orders[order]() ?? null }));
process.on('disconnect', () => process.exit());

http.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => process.send({ port: http.address().port }));
