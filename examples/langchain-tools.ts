/** LangChain's tools, made once from a handle in place of a client, outlive the server that they were made on. */
import assert from 'node:assert/strict';
import { loadMcpTools } from '@langchain/mcp-adapters';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { createSupervisor } from 'mcp-steward';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-agent', version: '1.0.0' } });
const files = supervisor.own('files', { transport: { kind: 'http', url: server.url } });

// Its type asks for the SDK's class, its code for `listTools` and `callTool`.
const tools = await loadMcpTools('files', files as unknown as Client);
const echo = tools.find(({ name }) => name === 'echo');
assert.ok(echo);

assert.equal(await echo.invoke({ text: 'before', key: 'before' }), 'before');
await server.restart();
assert.equal(await echo.invoke({ text: 'after', key: 'after' }), 'after');

assert.equal(files.generation, 2);
assert.equal(server.ledger.initializes(), 2);
assert.equal(server.ledger.runs('before'), 1);
assert.equal(server.ledger.runs('after'), 1);
