/** A raw SDK client and a real SDK server on the two ends of an in-memory transport. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

export const CLIENT_INFO = { name: 'bench', version: '1.0.0' };

export const CALL = { name: 'echo', arguments: { text: 'hello' } };

export async function connectInMemory(): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new McpServer({ name: 'bench-server', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  await server.connect(far);
  const client = new Client(CLIENT_INFO);
  await client.connect(near);
  return client;
}
