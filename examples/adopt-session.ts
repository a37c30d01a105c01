/** A low-level session, with nothing but the SDK's `request()`, gets a client's methods and the same care. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallerOwnedConnectionLostError, createSupervisor } from 'mcp-steward';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });

const client = new Client({ name: 'my-host', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(server.url) as Transport);
/** As a framework may hand it out: no `callTool`, no `close`. */
const session = { request: client.request.bind(client) };

const low = supervisor.adoptSession('low', session);
const { tools } = await low.listTools();
assert.ok(tools.some(({ name }) => name === 'append'));
await low.callTool({ name: 'append', arguments: { key: 'a' } });
assert.equal(server.ledger.runs('a'), 1);

await server.restart();
await assert.rejects(
  low.callTool({ name: 'append', arguments: { key: 'b' } }),
  CallerOwnedConnectionLostError,
);
assert.equal(server.ledger.runs('b'), 0);
assert.equal(server.ledger.initializes(), 1);
await client.close();
