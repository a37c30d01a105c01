// Operations that are in flight on a caller-owned connection when it is lost.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/http-server.ts';
import {
  callersClient,
  expectOwnershipError,
  lend,
  overheard,
  ownershipOf,
  rejection,
  type Supply,
} from '../support/lent.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const SUPPLIES: Supply[] = ['v1 client', 'v2 client', 'v1 session', 'v2 session'];
const tool = { method: 'tools/call', kind: 'tool' } as const;
const append = (key: string, extra = {}) => ({ name: 'append', arguments: { key, ...extra } });

let http: TestServer;
beforeAll(async () => {
  http = await startServer();
});
afterAll(() => http[Symbol.asyncDispose]());
beforeEach(() => http.ledger.clear());

describe.each(SUPPLIES)('%s', (supply) => {
  const lost = { name: 'mine', ownership: ownershipOf(supply) };

  it('stdio: all that the killed child was running may have run; nothing is sent again', async () => {
    await using server = stdioServer();
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const calls = ['a', 'b', 'c'].map((key) => rejection(handle.callTool(append(key, { holdMs: 60_000 }))));
    const safe = rejection(handle.callTool({ name: 'read', arguments: { key: 'd', delayMs: 60_000 } }));
    await until(() => server.ledger.count('call') === 4 && server.ledger.runs() === 3);
    process.kill(server.server(), 'SIGKILL');
    for (const call of [...calls, safe])
      expectOwnershipError(await call, { ...lost, ...tool, ran: 'unknown' });
    expectOwnershipError(await rejection(handle.ping()), {
      ...lost,
      method: 'ping',
      kind: 'liveness',
      ran: 'unsent',
    });
    expect([server.ledger.count('spawn'), server.ledger.initializes()]).toEqual([1, 1]);
    expect(server.ledger.requests('tools/call')).toBe(4);
    expect(server.ledger.runs()).toBe(3);
    await supervisor.close();
    expect(mine.touched).toEqual([]);
  });

  it('in memory: the server closes under a call, which runs on', async () => {
    await using server = new MemoryServer();
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const call = rejection(handle.callTool(append('memory', { holdMs: 50 })));
    await until(() => server.ledger.runs('memory') === 1);
    server.close();
    expectOwnershipError(await call, { ...lost, ...tool, ran: 'unknown' });
    expect(handle.state).toBe('failed-ownership');
    expect(server.ledger.requests('tools/call')).toBe(1);
    await supervisor.close();
  });

  it('the caller closes its own client under a call', async () => {
    const server = http;
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const call = rejection(handle.callTool(append('closed', { holdMs: 300 })));
    await until(() => server.ledger.runs('closed') === 1);
    await mine.close();
    expectOwnershipError(await call, { ...lost, ...tool, ran: 'unknown' });
    expect(server.ledger.deletes()).toBe(0);
    await supervisor.close();
  });

  it('HTTP: one finds the loss, one that is running ends well, one whose answer was lost says so', async () => {
    const server = http;
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const well = handle.callTool(append('well', { holdMs: 250 }));
    // Its stream stays open and never brings an answer: nothing tells but the time that was allowed.
    const mute = rejection(
      handle.callTool({ name: 'hang', arguments: { key: 'mute' } }, undefined, { timeout: 500 }),
    );
    await until(() => server.ledger.runs() === 2);
    await server.evict(mine.sessionId, { silent: true });
    const finds = ['one', 'two', 'three'].map((key) => rejection(handle.callTool(append(key))));
    for (const find of finds) expectOwnershipError(await find, { ...lost, ...tool, ran: 'unrun' });
    expect(handle.state).toBe('failed-ownership');
    expect(await well).toHaveProperty('content');
    expectOwnershipError(await mute, { ...lost, ...tool, ran: 'unknown' });
    expect(['well', 'mute', 'one', 'two', 'three'].map((key) => server.ledger.runs(key))).toEqual([
      1, 1, 0, 0, 0,
    ]);
    expect(server.ledger.requests('tools/call')).toBe(5);
    expect([server.ledger.initializes(), server.ledger.deletes()]).toEqual([1, 0]);
    await supervisor.close();
    expect(mine.touched).toEqual([]);
  });

  it('a call in flight goes on when the handle is closed: what was lent is given back, not closed', async () => {
    const server = http;
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const call = handle.callTool(append('goes-on', { holdMs: 200 }));
    await until(() => server.ledger.runs('goes-on') === 1);
    await supervisor.close();
    expect(handle.state).toBe('closed');
    expect(await call).toHaveProperty('content');
    // The caller goes on to use its own client.
    expect(await mine.client.listTools()).toHaveProperty('tools');
    expect([server.ledger.initializes(), server.ledger.deletes()]).toEqual([1, 0]);
    expect(mine.touched).toEqual([]);
    expect(await server.sessionIds()).toContain(mine.sessionId);
  });
});

it.each<Supply>(['v1 client', 'v2 session'])(
  'legacy SSE, %s: the stream ends under a call',
  async (supply) => {
    await using server = await startServer({ transport: 'sse' });
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const call = rejection(handle.callTool(append('sse', { holdMs: 60_000 }), undefined, { timeout: 1_000 }));
    await until(() => server.ledger.runs('sse') === 1);
    await server.kill();
    await until(() => handle.state === 'failed-ownership');
    // The caller's EventSource comes back by itself, to a session that nobody has initialised.
    await server.start();
    const lost = { name: 'mine', ownership: ownershipOf(supply) };
    expectOwnershipError(await call, { ...lost, ...tool, ran: 'unknown' });
    expectOwnershipError(await rejection(handle.callTool(append('next'))), {
      ...lost,
      ...tool,
      ran: 'unsent',
    });
    expect([server.ledger.initializes(), server.ledger.requests('tools/call')]).toEqual([1, 1]);
    await supervisor.close();
    expect(mine.touched).toEqual([]);
  },
);

it('two handles on one client: closing one leaves the other, and the client, at work', async () => {
  const server = http;
  await using mine = await callersClient('v1 client', server);
  const { supervisor } = overheard();
  const one = lend(supervisor, 'one', 'v1 client', mine);
  const two = lend(supervisor, 'two', 'v1 session', mine);
  await one.close();
  expect(await rejection(one.ping())).toMatchObject({ code: 'closed', connection: 'one' });
  await two.callTool(append('two'));
  expect(server.ledger.runs('two')).toBe(1);
  expect(server.ledger.requests('ping')).toBe(0);
  await supervisor.close();
  await mine.client.ping();
  expect(mine.touched).toEqual([]);
});

it('a session that is nothing but request() may close under a call: the error passes, the next one is refused', async () => {
  await using server = stdioServer();
  await using mine = await callersClient('bare session', server);
  const { supervisor } = overheard();
  const handle = lend(supervisor, 'mine', 'bare session', mine);
  const call = rejection(handle.callTool(append('bare', { holdMs: 60_000 })));
  await until(() => server.ledger.runs('bare') === 1);
  process.kill(server.server(), 'SIGKILL');
  // Nothing but the message of the error says that it closed, and a relay says the same of others.
  const error = await call;
  expect(error).toMatchObject({ code: expect.anything() });
  const next = await rejection(handle.listTools());
  expectOwnershipError(next, {
    name: 'mine',
    ownership: 'caller-session',
    method: 'tools/list',
    kind: 'discovery',
    ran: 'unrun',
  });
  expect(server.ledger.count('request')).toBe(3);
  await supervisor.close();
});
