// Failures that people reported: the server has forgotten the session. One test for each row, by its id.
import { expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { EVERY_OPERATION } from '../support/every-operation.ts';
import { startServer, type UnknownSessionStyle } from '../support/http-server.ts';
import { callTool, http, own, settled, sse, stdio } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

/** The tools/call requests with this key, as they came over the wire. */
const requestsOf = (key: string) =>
  shared()
    .ledger.events('request')
    .filter((each) => each.key === key);

it('case 1: after one 404 the next sends do not go to the dead session', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await callTool(owned, 'append', { key: 'a' });
  await server.evict();
  await callTool(owned, 'append', { key: 'b' });
  await callTool(owned, 'append', { key: 'c' });

  const [first, second] = server.ledger.events('initialize');
  expect(server.ledger.initializes()).toBe(2);
  expect(second?.hadSessionHeader, 'no session header on the second').toBe(false);
  expect(requestsOf('b').map(({ session }) => session)).toEqual([first?.session, second?.session]);
  expect(requestsOf('c').map(({ session }) => session)).toEqual([second?.session]);
  expect([server.ledger.runs('b'), server.ledger.runs('c')]).toEqual([1, 1]);
});

const UNUSUAL: UnknownSessionStyle[] = ['404-empty', '404-html', '404-json', '404-32002', '404-32600'];
it.each(UNUSUAL)('case 2: an expiry is seen whatever the body: %s', async (style) => {
  const server = shared();
  await server.unknownSession(style);
  await using owned = own(http(server.url));
  await owned.ready();
  await server.evict();
  await callTool(owned, 'append', { key: style });
  expect([server.ledger.initializes(), server.ledger.runs(style)]).toEqual([2, 1]);
  expect(owned.transitions.find(({ to }) => to === 'lost')?.cause).toBe('session-unknown');
});

it('case 2: a 404 to a request without a session id is a wrong endpoint: 0 reconnects', async () => {
  await using server = await startServer({ transport: 'stateless' });
  await using owned = own(http(server.url));
  await owned.ready();
  await server.fault({ kind: 'status', status: 404, body: 'Not Found' });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
  expect(error).toMatchObject({ code: 404 });
  expect([owned.handle.generation, server.ledger.initializes()]).toEqual([1, 1]);
});

it.each(['400-no-valid-session', '400-not-initialized', '410'] as const)(
  'case 3: an unknown session answered with %s is lost',
  async (style) => {
    const server = shared();
    await server.unknownSession(style);
    await using owned = own(http(server.url));
    await owned.ready();
    await server.evict();
    await callTool(owned, 'append', { key: style });
    expect([server.ledger.initializes(), server.ledger.runs(style)]).toEqual([2, 1]);
  },
);

it.each([400, 503])('case 3: another %i is an error of the request; the session is kept', async (status) => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  await server.fault({ kind: 'status', status, body: 'Bad tenant' });
  const { error } = await settled(callTool(owned, 'append', { key: `${status}` }));
  expect(error).toMatchObject({ code: status });
  await callTool(owned, 'append', { key: 'next' });
  expect([server.ledger.initializes(), owned.handle.generation]).toEqual([1, 1]);
  expect(server.ledger.runs(`${status}`)).toBe(0);
});

it('case 4: an instant 404 is no timeout: told at once, as a lost session, not run', async () => {
  const server = shared();
  await using owned = own(http(server.url), { replay: { tools: { append: 'never' } } });
  await owned.ready();
  await server.evict();
  const { error, ms } = await settled(callTool(owned, 'append', { key: 'write' }, 60_000));
  expect(error).toMatchObject({
    code: 'unavailable',
    evidence: { connection: 'lost', execution: 'none', cause: 'session-unknown' },
    message: expect.stringContaining('was not run'),
  });
  expect(ms).toBeLessThan(1_500);
  expect(server.ledger.runs('write')).toBe(0);
  // Without that policy the write is not lost either: it is sent again, once.
  await using other = own(http(server.url));
  await other.ready();
  await server.evict();
  await callTool(other, 'append', { key: 'again' });
  expect(server.ledger.runs('again')).toBe(1);
});

it('case 5: a server’s -32001 is not our timeout, and a live session is not recreated for it', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  await server.fault({ kind: 'rpc-error', code: -32001, message: 'Session not found' });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }, 60_000));
  expect(error).toMatchObject({
    name: 'McpError',
    code: -32001,
    message: expect.stringContaining('Session not found'),
  });
  expect([server.ledger.initializes(), owned.handle.generation]).toEqual([1, 1]);
});

it('case 5: `recreated` is said only after the new handshake, and then calls work', async () => {
  const server = shared();
  await server.unknownSession('inband-32001');
  await using owned = own(http(server.url));
  await owned.ready();
  const handshakesWhenSaid: number[] = [];
  owned.handle.on('recreated', () => void handshakesWhenSaid.push(server.ledger.count('initialized')));
  await server.evict();
  const { error } = await settled(callTool(owned, 'append', { key: 'unsafe' }));
  expect(error).toMatchObject({ code: 'outcome-unknown' });
  await owned.handle.listTools();
  expect(handshakesWhenSaid).toEqual([2]);
  expect([server.ledger.runs('unsafe'), owned.handle.generation]).toEqual([0, 2]);
});

it('case 6: two 404s in a row: one new session, then the error surfaces; the dead session is not kept', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  await server.fault({ kind: 'status', status: 404, times: 2 });
  const { error } = await settled(callTool(owned, 'append', { key: 'twice' }));
  expect(error).toMatchObject({
    code: 'unavailable',
    evidence: { execution: 'none', cause: 'session-unknown' },
  });
  const sessions = requestsOf('twice').map(({ session }) => session);
  expect(sessions).toHaveLength(2);
  expect(new Set(sessions).size).toBe(2);
  await callTool(owned, 'append', { key: 'third' });
  expect(server.ledger.initializes()).toBe(3);
  expect(sessions).not.toContain(requestsOf('third')[0]?.session);
});

it('case 7: -32600 with another text is an answer; "… before the request completed" is no proof', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  for (const [code, message] of [
    [-32600, 'Invalid Request'],
    [32600, 'Session terminated by the user'],
    [-32603, 'Session terminated before the request completed'],
  ] as const) {
    const key = `${code} ${message}`;
    const { error } = await settled(callTool(owned, 'rpcError', { code, message, key }));
    expect(error).toMatchObject({ code });
    expect(server.ledger.runs(key), 'run once, not replayed').toBe(1);
  }
  expect([server.ledger.initializes(), owned.handle.generation]).toEqual([1, 1]);
});

it('case 8: for every kind of operation the first use after a loss succeeds', async () => {
  const server = shared();
  await using owned = own(http(server.url), { recovery: { maxAttempts: 100, initialBackoffMs: 1 } });
  await owned.ready();
  for (const [index, { call, method }] of EVERY_OPERATION.entries()) {
    await server.evict();
    await call(owned.handle);
    expect(owned.handle.generation, method).toBe(index + 2);
  }
  expect(server.ledger.initializes()).toBe(EVERY_OPERATION.length + 1);
});

it('case 10: a dead id is dropped, and one fresh handshake made; a JSON-RPC 404 is no loss', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  const { error } = await settled(
    callTool(owned, 'rpcError', { code: 404, message: 'no such file', key: 'rpc' }),
  );
  expect(error).toMatchObject({ name: 'McpError', code: 404 });
  expect(owned.handle.generation).toBe(1);

  await server.evict();
  for (const key of ['w1', 'w2', 'w3']) await callTool(owned, 'append', { key });
  const fresh = server.ledger.events('initialize')[1]?.session;
  expect(server.ledger.initializes()).toBe(2);
  expect([...requestsOf('w2'), ...requestsOf('w3')].map(({ session }) => session)).toEqual([fresh, fresh]);
});

it('case 13: a restart between two calls, Streamable HTTP and legacy SSE: the second succeeds', async () => {
  await Promise.all(
    (['http', 'sse'] as const).map(async (transport) => {
      await using server = await startServer({ transport });
      await using owned = own(transport === 'sse' ? sse(server.url) : http(server.url));
      await callTool(owned, 'append', { key: 'before' });
      await server.restart();
      await callTool(owned, 'append', { key: 'after' });
      expect([server.ledger.runs('before'), server.ledger.runs('after')], transport).toEqual([1, 1]);
      expect([server.ledger.initializes(), owned.handle.generation], transport).toEqual([2, 2]);
    }),
  );
});

it('case 13: a stdio server that was killed between two calls is started again', async () => {
  await using server = stdioServer();
  await using owned = own(stdio(server));
  await callTool(owned, 'append', { key: 'before' });
  process.kill(server.server(), 'SIGKILL');
  await until(() => owned.handle.state !== 'ready');
  await callTool(owned, 'append', { key: 'after' });
  expect([server.ledger.runs('before'), server.ledger.runs('after')]).toEqual([1, 1]);
  expect(server.ledger.count('spawn')).toBe(2);
});

it('case 105: a session that is dropped every 5 calls costs no read', async () => {
  const server = shared();
  await using owned = own(http(server.url), { recovery: { maxAttempts: 100, initialBackoffMs: 1 } });
  for (let call = 0; call < 30; call++) {
    if (call % 5 === 4) await server.evict();
    await callTool(owned, 'read', { key: 'soak' });
  }
  expect([server.ledger.runs('soak'), owned.handle.generation]).toEqual([30, 7]);
});
