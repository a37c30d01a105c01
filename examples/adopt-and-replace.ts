/** A client that the host made stays the host's: the supervisor says when it is lost, and only the host replaces it. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallerOwnedConnectionLostError, createSupervisor } from 'mcp-steward';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });

async function connect(): Promise<Client> {
  const client = new Client({ name: 'my-host', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(server.url) as Transport);
  return client;
}

const first = await connect();
const mine = supervisor.adopt('mine', first);
await mine.callTool({ name: 'append', arguments: { key: 'before' } });

await server.restart();
await assert.rejects(
  mine.callTool({ name: 'append', arguments: { key: 'lost' } }),
  CallerOwnedConnectionLostError,
);
assert.equal(mine.state, 'failed-ownership');
assert.equal(server.ledger.initializes(), 1, 'nothing was connected on the host’s behalf');

const second = await connect();
await mine.replace(second);
await mine.callTool({ name: 'append', arguments: { key: 'after' } });
assert.equal(server.ledger.runs('lost'), 0);
assert.equal(server.ledger.runs('after'), 1);

// Giving back ends nothing: the host closes what it opened.
await supervisor.close();
await second.ping();
await first.close();
await second.close();
