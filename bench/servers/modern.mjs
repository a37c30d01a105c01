// A server of revision 2026-07-28 in a process of its own: no sessions, one server object for each request.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench-server', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});

const http = createServer(toNodeHandler(handler));
process.on('disconnect', () => process.exit());
http.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => process.send({ port: http.address().port }));
