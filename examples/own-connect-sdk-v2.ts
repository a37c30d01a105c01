/** Anything that yields a connected client can be owned: here SDK v2. The supervisor calls `connect` per generation. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createSupervisor } from 'mcp-steward';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });

const files = supervisor.own('files', {
  // Given the supervisor's own `fetch`, a call whose answer can no longer come is settled at once.
  connect: async ({ fetch }) => {
    const client = new Client({ name: 'my-host', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(server.url, { fetch }));
    return client;
  },
});

await files.callTool({ name: 'append', arguments: { key: 'first' } });
await server.restart();
await files.callTool({ name: 'append', arguments: { key: 'second' } });

assert.equal(files.generation, 2);
assert.equal(server.ledger.initializes(), 2);
assert.equal(server.ledger.runs(), 2);
