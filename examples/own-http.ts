/** The supervisor makes the connection, and makes it anew when the server has forgotten the session. */
import assert from 'node:assert/strict';
import { createSupervisor } from 'mcp-steward';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });

const files = supervisor.own('files', {
  transport: { kind: 'http', url: server.url },
  replay: { tools: { read: 'safe' } },
});
files.on('recreated', ({ connection, generation }) => console.log(`${connection}: generation ${generation}`));

await files.callTool({ name: 'append', arguments: { key: 'first' } });
await server.restart();
await files.callTool({ name: 'append', arguments: { key: 'second' } });

assert.equal(files.generation, 2);
assert.equal(server.ledger.initializes(), 2);
assert.equal(server.ledger.runs('first'), 1);
assert.equal(server.ledger.runs('second'), 1);
