// The MCP server itself, the same over both transports.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** @param {(is: 'ran', facts: { key: string }) => void} note */
export function createMcpServer(note) {
  const server = new McpServer({ name: 'mcp-steward-fault-server', version: '1.0.0' });
  for (const [name, annotations] of [
    ['append', undefined],
    ['read', { readOnlyHint: true }],
  ]) {
    server.registerTool(
      name,
      { description: 'Counts one run under its key.', inputSchema: { key: z.string() }, annotations },
      ({ key }) => {
        note('ran', { key });
        return { content: [{ type: 'text', text: `${name} ${key}` }] };
      },
    );
  }
  return server;
}
