// A server with a side effect: `place-order` places the order, and takes its time to say so.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { note } from './ledger.mjs';

const sessions = new Map();

async function openSession() {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  server.registerTool('place-order', { inputSchema: { item: z.string() } }, async ({ item }) => {
    note('execution', item);
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    return { content: [{ type: 'text', text: `ordered ${item}` }] };
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      note('initialize');
      sessions.set(id, transport);
    },
  });
  await server.connect(transport);
  return transport;
}

note('process');

createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await openSession() : sessions.get(id);
  if (transport) return transport.handleRequest(request, response);
  const error = { code: -32001, message: 'Session not found' };
  response
    .writeHead(404, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}).listen(Number(process.env.PORT), '127.0.0.1');
