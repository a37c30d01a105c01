/** The Anthropic SDK's tool runner, given a handle in place of a client. The model's part is read from a script. */
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp';
import { createSupervisor } from 'mcp-steward';
import { startServer } from '../test/support/http-server.ts';

await using server = await startServer();
await using supervisor = createSupervisor({ clientInfo: { name: 'my-agent', version: '1.0.0' } });
const files = supervisor.own('files', { transport: { kind: 'http', url: server.url } });

/** What the model says: two calls of a tool, the server being restarted between them, then the last word. */
const script = [
  {
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', id: 'one', name: 'append', input: { key: 'before' } }],
  },
  {
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', id: 'two', name: 'append', input: { key: 'after' } }],
  },
  { stop_reason: 'end_turn', content: [{ type: 'text', text: 'Both are written.' }] },
];
let turn = 0;

const anthropic = new Anthropic({
  apiKey: 'none is needed',
  fetch: async () => {
    if (turn === 1) await server.restart();
    const usage = { input_tokens: 1, output_tokens: 1 };
    return Response.json({
      id: `m${turn}`,
      type: 'message',
      role: 'assistant',
      model: 'script',
      usage,
      ...script[turn++],
    });
  },
});

const { tools } = await files.listTools();
const answer = await anthropic.beta.messages.toolRunner({
  model: 'script',
  max_tokens: 100,
  // Its type knows no deprecated results; the SDK's own Client needs the same cast.
  tools: mcpTools(tools, files as never),
  messages: [{ role: 'user', content: 'Write both.' }],
});

assert.equal(answer.stop_reason, 'end_turn');
assert.equal(files.generation, 2);
assert.equal(server.ledger.initializes(), 2);
assert.equal(server.ledger.runs('before'), 1);
assert.equal(server.ledger.runs('after'), 1);
