// Failures that people reported: handlers, identity, long results, and hosts' own traps. One test for each row.
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startServer } from '../support/http-server.ts';
import { refreshingProvider } from '../support/oauth.ts';
import { callTool, http, own, settled } from '../support/owned.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { sharedServer } from '../support/shared-server.ts';
import { startRelay } from '../support/tcp-relay.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();
const clientInfo = { name: 'host', version: '1.0.0' };

it('case 91: a tool object that was made before a reconnect works after it', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  const { tools } = await owned.handle.listTools();
  const tool = tools.find(({ name }) => name === 'append')!;
  const made = {
    ...tool,
    execute: (key: string) => owned.handle.callTool({ name: tool.name, arguments: { key } }),
  };
  await server.evict();
  await made.execute('after');
  expect([server.ledger.runs('after'), owned.handle.generation]).toEqual([1, 2]);
});

it('case 95: handlers and capabilities are there again on every generation', async () => {
  const server = shared();
  const asked: string[] = [];
  let setups = 0;
  await using supervisor = createSupervisor({
    clientInfo,
    capabilities: { elicitation: {}, roots: { listChanged: true } },
    setup: (client) => {
      const generation = ++setups;
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(`${generation}: ${params.message}`);
        return { action: 'accept' as const, content: { ok: true } };
      });
    },
  });
  const handle = supervisor.own('files', { transport: http(server.url) });
  const elicit = (message: string) => handle.callTool({ name: 'elicit', arguments: { message } });
  await elicit('one');
  await server.evict();
  const { content } = await elicit('two');
  expect(JSON.stringify(content)).toContain('accept');
  expect(asked).toEqual(['1: one', '2: two']);
  const [first, second] = server.ledger.events('initialize');
  expect(first?.capabilities).toEqual({ elicitation: {}, roots: { listChanged: true } });
  expect(second?.capabilities).toEqual(first?.capabilities);
  expect([first?.clientInfo, second?.clientInfo]).toEqual([clientInfo, clientInfo]);
});

it('case 97: a 401 in the middle of a session: one refresh, one resend, the same session', async () => {
  await using server = await startServer({ requireAuth: 'token-1' });
  const oauth = refreshingProvider('token-1', () => 'token-2');
  await using owned = own({
    kind: 'http',
    url: server.url,
    authProvider: oauth.provider,
    fetch: oauth.fetch,
  });
  await callTool(owned, 'append', { key: 'before' });
  await server.requireAuth('token-2');
  await callTool(owned, 'append', { key: 'after' });
  expect(oauth.refreshes()).toBe(1);
  const posts = server.ledger.events('request').filter(({ key }) => key === 'after');
  expect(posts, 'one refused, one resent').toHaveLength(2);
  expect(new Set(posts.map(({ session }) => session))).toEqual(
    new Set([server.ledger.events('initialize')[0]?.session]),
  );
  expect([server.ledger.initializes(), server.ledger.runs('after'), owned.handle.generation]).toEqual([
    1, 1, 1,
  ]);
});

it('case 98: the provider’s new token is used with the next request', async () => {
  await using server = await startServer({ requireAuth: 'token-1' });
  const oauth = refreshingProvider('token-1', () => 'unused');
  await using owned = own({
    kind: 'http',
    url: server.url,
    authProvider: oauth.provider,
    fetch: oauth.fetch,
  });
  await callTool(owned, 'append', { key: 'before' });
  await server.requireAuth('token-9');
  oauth.signIn('token-9');
  await callTool(owned, 'append', { key: 'after' });
  expect(server.ledger.events('request').filter(({ key }) => key === 'after')).toHaveLength(1);
  expect([oauth.refreshes(), server.ledger.initializes()]).toEqual([0, 1]);
});

it('case 104: a result that was written to a dead stream comes with the next one, once', async () => {
  await using server = await startServer({ eventStore: true });
  await using relay = await startRelay(server.port);
  await using owned = own(http(new URL(`http://127.0.0.1:${relay.port}/mcp`)));
  await until(() => server.ledger.count('get') === 1);
  let settledTimes = 0;
  const call = callTool(owned, 'append', { key: 'long', holdMs: 500 }, 60_000).finally(
    () => void settledTimes++,
  );
  await until(() => server.ledger.runs('long') === 1);
  // The id of the answer's first event must have been read, or nothing could be resumed.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(relay.cut('"tools/call"')).toBe(1);
  expect(await call).toMatchObject({ content: [{ text: 'append long' }] });
  await callTool(owned, 'append', { key: 'next' });
  expect(settledTimes).toBe(1);
  expect([server.ledger.runs('long'), server.ledger.requests('tools/call'), owned.handle.generation]).toEqual(
    [1, 2, 1],
  );
});

it('case 107: one of five servers refuses: four are usable, and the one is reported', async () => {
  const server = shared();
  await using supervisor = createSupervisor({ clientInfo });
  const recovery = { maxAttempts: 2, initialBackoffMs: 1, maxBackoffMs: 1 };
  const nobody = await refusingUrl();
  const handles = Array.from({ length: 5 }, (_, n) =>
    supervisor.own(`server${n}`, {
      transport: http(n === 2 ? nobody : server.url),
      recovery,
    }),
  );
  const ended = await Promise.all(
    handles.map((handle, n) => settled(handle.callTool({ name: 'append', arguments: { key: `k${n}` } }))),
  );
  expect(ended.map(({ error }) => (error as { code?: string } | undefined)?.code)).toEqual([
    undefined,
    undefined,
    'unavailable',
    undefined,
    undefined,
  ]);
  expect(server.ledger.runs()).toBe(4);
  expect([...supervisor.connections.values()].map(({ state }) => state)).toEqual([
    'ready',
    'ready',
    'exhausted',
    'ready',
    'ready',
  ]);
  expect(handles[2]?.status).toMatchObject({
    connection: 'server2',
    state: 'exhausted',
    reason: 'unreachable',
    action: expect.stringContaining('reconnect()'),
  });
});
