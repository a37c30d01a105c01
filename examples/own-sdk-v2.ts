/** The supervisor makes the connection with SDK v2, in the revision that the server speaks. */
import assert from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import { createSupervisor } from 'mcp-steward';
import { sdk2 } from 'mcp-steward/sdk-2';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer({ transport: 'modern' });
await using supervisor = createSupervisor({
  clientInfo: { name: 'my-host', version: '1.0.0' },
  capabilities: { elicitation: { form: {} } },
  setup: (client: Client) => client.setRequestHandler('elicitation/create', () => ({ action: 'decline' })),
});

const files = supervisor.own('files', { transport: { kind: 'http', url: server.url, sdk: sdk2 } });
await files.callTool({ name: 'append', arguments: { key: 'first' } });

assert.equal(files.status.protocolVersion, '2026-07-28');
assert.equal(server.ledger.runs('first'), 1);
