// The MCP server of the soak. Every call brings a unique id; each execution is written down under it. While it works
// it logs, pings and asks back.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  EmptyResultSchema,
  ListResourcesRequestSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const ANSWER_LIMIT_MS = 2_000;
const PING_EVERY_MS = 700;

const sleep = (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);

const QUESTIONS = {
  ping: [{ method: 'ping' }, EmptyResultSchema],
  roots: [{ method: 'roots/list' }, ListRootsResultSchema],
  sample: [
    {
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'text', text: 'Which?' } }], maxTokens: 10 },
    },
    CreateMessageResultSchema,
  ],
  elicit: [
    {
      method: 'elicitation/create',
      params: {
        message: 'Go on?',
        requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
      },
    },
    ElicitResultSchema,
  ],
};

const tool = (name) => ({
  name,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
});
const TOOLS = { tools: ['append', 'search'].map(tool) };

/**
 * @param {{ write(event: string, facts?: object): void }} journal
 * @param {object} transport
 * @param {object} facts
 * @param {string} facts.connection
 * @param {string} [facts.session]
 * @param {boolean} [facts.answersJson] a POST's answer carries nothing else
 */
export async function serve(journal, transport, { connection, session, answersJson = false }) {
  const server = createServer(journal, session, answersJson);
  server.oninitialized = () => journal.write('initialized', { connection, session });
  await server.connect(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (message.method === 'initialize') journal.write('initialize', { connection, session });
    deliver(message, extra);
  };
}

function createServer(journal, session, answersJson) {
  const server = new Server(
    { name: 'soak', version: '1.0.0' },
    { capabilities: { tools: {}, resources: {}, logging: {} } },
  );
  const ran = (id, method) => journal.write('run', { id, method, session });

  async function speak(word, extra) {
    const log = { method: 'notifications/message', params: { level: 'info', data: 'at work' } };
    if (word === 'log') return answersJson ? server.notification(log) : extra.sendNotification(log);
    const [request, schema] = QUESTIONS[word];
    const options = { timeout: ANSWER_LIMIT_MS };
    await (answersJson
      ? server.request(request, schema, options)
      : extra.sendRequest(request, schema, options));
  }

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { id, beforeMs, afterMs, says } = params.arguments;
    journal.write('begin', { id, session });
    await sleep(beforeMs);
    ran(id, params.name);
    // Whoever does not answer does not stop the work.
    if (says !== undefined) await speak(says, extra).catch(() => {});
    await sleep(afterMs);
    return { content: [{ type: 'text', text: id }] };
  });
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const id = uri.slice(uri.lastIndexOf('/') + 1);
    ran(id, 'read');
    return { contents: [{ uri, text: id }] };
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    // The page that is asked for is the call's id.
    if (params?.cursor !== undefined) ran(params.cursor, 'list');
    return TOOLS;
  });

  const pings = setInterval(() => server.ping({ timeout: ANSWER_LIMIT_MS }).catch(() => {}), PING_EVERY_MS);
  pings.unref();
  server.onclose = () => clearInterval(pings);
  server.onerror = () => {};
  return server;
}
