/** A raw SDK client and a real SDK server on the two ends of an in-memory transport. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const CLIENT_INFO = { name: 'bench', version: '1.0.0' };

export const CALL = { name: 'echo', arguments: { text: 'hello' } };

const ANSWER = { content: [{ type: 'text' as const, text: 'hello' }] };

/** The low-level server: the less work it does, the more ours shows. */
export async function connectInMemory(): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: 'bench-server', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, () => ANSWER);
  await server.connect(far);
  const client = new Client(CLIENT_INFO);
  await client.connect(near);
  return client;
}
