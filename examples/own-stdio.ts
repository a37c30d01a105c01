/** The supervisor starts the server's process, and starts another when it has died. */
import assert from 'node:assert/strict';
import { createSupervisor, OutcomeUnknownError } from 'mcp-steward';
import { stdioServer } from '../test/support/stdio-server.ts';

await using server = stdioServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });

const files = supervisor.own('files', {
  transport: { kind: 'stdio', command: server.command, args: server.args },
});

// The process dies under this call: it may have run, so it is not sent again, and the error says so.
await assert.rejects(files.callTool({ name: 'exit', arguments: { code: 3 } }), (error) => {
  assert.ok(error instanceof OutcomeUnknownError);
  assert.equal(error.evidence?.process?.exitCode, 3);
  return true;
});
assert.equal(
  server.ledger.count('run', ({ tool }) => tool === 'exit'),
  1,
);

// The next call gets a new process.
await files.callTool({ name: 'append', arguments: { key: 'next' } });
assert.equal(files.generation, 2);
assert.equal(server.ledger.runs('next'), 1);

await supervisor.close();
assert.deepEqual(server.alive(), []);
