// Failures that people reported: a timeout, an abort or a ping taken for a loss. One test for each row, by its id.
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, stdio } from '../support/owned.ts';
import { isAlive } from '../support/processes.ts';
import { connectV2 } from '../support/raw-client.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

it('cases 31 and 32: a slow tool times out: nothing is recreated, nobody else is affected', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  const { tools } = await owned.handle.listTools();
  const slow = settled(callTool(owned, 'slow', { key: 'slow', ms: 60_000 }, 300));
  await until(() => server.ledger.runs('slow') === 1);
  await callTool(owned, 'append', { key: 'meanwhile' });
  const { error } = await slow;
  expect(error).toMatchObject({ name: 'McpError', code: -32001, data: { timeout: expect.any(Number) } });
  await callTool(owned, 'append', { key: 'next' });
  expect((await owned.handle.listTools()).tools).toHaveLength(tools.length);
  expect(['slow', 'meanwhile', 'next'].map((key) => server.ledger.runs(key))).toEqual([1, 1, 1]);
  expect([server.ledger.initializes(), owned.handle.generation]).toEqual([1, 1]);
  expect(owned.states()).not.toContain('lost');
});

it('case 33: an abort has the timeout’s code, and is no failure of the connection', async () => {
  const server = shared();
  await using owned = own(http(server.url), { recovery: { maxAttempts: 1 } });
  await owned.ready();
  for (let n = 0; n < 5; n++) {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = settled(
      owned.handle.callTool({ name: 'hang', arguments: { key: `a${n}` } }, undefined, { signal }),
    );
    await until(() => server.ledger.runs(`a${n}`) === 1);
    controller.abort();
    expect((await ended).error).toMatchObject({ message: expect.stringMatching(/abort/i) });
  }
  expect(owned.handle.status).toMatchObject({ state: 'ready', lastError: undefined, generation: 1 });
  // The budget of one attempt is whole: the first real loss is still recovered.
  await callTool(owned, 'append', { key: 'after' });
  expect(server.ledger.initializes()).toBe(1);
});

it('case 35: a ping that fails while a call runs is no loss; a replaced child is gone', async () => {
  await using server = stdioServer({ faults: [{ on: 'ping', kind: 'never', times: 3 }] });
  await using owned = own(stdio(server), {
    liveness: { heartbeatMs: 30, probeTimeoutMs: 50, missedHeartbeats: 2, silenceMs: 60 },
  });
  const busy = callTool(owned, 'append', { key: 'busy', holdMs: 1_000 });
  await until(() => server.ledger.count('fault') === 3, { what: 'three pings that were not answered' });
  await busy;
  expect(owned.handle.generation, 'no loss while it was busy').toBe(1);
  const first = server.server();
  process.kill(first, 'SIGSTOP');
  await until(() => owned.states().includes('lost'), { what: 'the loss of the idle, silent server' });
  await callTool(owned, 'append', { key: 'next' });
  expect(server.server()).not.toBe(first);
  expect(isAlive(first)).toBe(false);
  expect(server.ledger.runs('busy')).toBe(1);
});

it('case 35: nor is a ping that was already on its way when the call began', async () => {
  const server = shared();
  await using owned = own(http(server.url), {
    liveness: { heartbeatMs: 20, probeTimeoutMs: 300, missedProbes: 1, silenceMs: 5_000 },
  });
  await owned.ready();
  await server.fault({ on: 'ping', kind: 'never' });
  await until(() => server.ledger.count('fault') === 1);
  await callTool(owned, 'append', { key: 'busy', holdMs: 600 });
  const pings = server.ledger.requests('ping');
  await until(() => server.ledger.requests('ping') > pings);
  expect([owned.states().includes('lost'), owned.handle.generation, server.ledger.runs('busy')]).toEqual([
    false,
    1,
    1,
  ]);
});

it('cases 36, 40 and 84: so many pings missed in a row are a loss; one answer starts anew; only ping is sent', async () => {
  const server = shared();
  await using owned = own(http(server.url), {
    liveness: { heartbeatMs: 20, probeTimeoutMs: 300, missedHeartbeats: 3, silenceMs: 200 },
  });
  await owned.ready();
  const pings = () => server.ledger.requests('ping');
  await until(() => pings() > 0);
  for (let round = 0; round < 2; round++) {
    const missed = server.ledger.count('fault');
    await server.fault({ on: 'ping', kind: 'never', times: 2 });
    await until(() => server.ledger.count('fault') === missed + 2);
    const before = pings();
    await until(() => pings() > before + 1);
  }
  expect([owned.handle.state, owned.handle.generation]).toEqual(['ready', 1]);
  await server.fault({ on: 'ping', kind: 'never', times: 3 });
  await until(() => owned.states().includes('lost'));
  expect(owned.transitions.at(-1)?.cause).toBe('heartbeat');
  expect(server.ledger.count('fault')).toBe(7);
  expect(server.ledger.count('request', ({ method }) => String(method).endsWith('/list'))).toBe(0);
});

it('case 37: revision 2026-07-28 has no ping: it is not sent, and the connection stays well', async () => {
  await using server = await startServer({ transport: 'modern' });
  await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const handle = supervisor.own('modern', {
    connect: async () => (await connectV2(server, '2026-07-28')).client as never,
    liveness: { heartbeatMs: 20, missedHeartbeats: 1 },
  });
  await until(() => handle.state === 'ready');
  const before = server.ledger.requests('server/discover');
  await until(() => server.ledger.requests('server/discover') >= before + 3, { what: 'three heartbeats' });
  await handle.callTool({ name: 'append', arguments: { key: 'x' } });
  expect(handle.status).toMatchObject({ state: 'ready', generation: 1, lastError: undefined });
  expect([server.ledger.requests('ping'), server.ledger.runs('x')]).toEqual([0, 1]);
});

it('case 38: a server without ping is well, and is not pinged again', async () => {
  const server = shared();
  await server.fault({
    on: 'ping',
    kind: 'rpc-error',
    code: -32601,
    message: 'Method not found',
    times: 'always',
  });
  await using owned = own(http(server.url), { liveness: { heartbeatMs: 20, missedHeartbeats: 1 } });
  await until(() => server.ledger.requests('ping') === 1);
  // Ten heartbeats' time, in which nothing may happen.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(server.ledger.requests('ping')).toBe(1);
  expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1, lastError: undefined });
});

it('case 99: 401 and 403 recreate nothing, and other connections are untouched', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await using other = own(http(server.url));
  await Promise.all([owned.ready(), other.ready()]);
  for (const status of [401, 403]) {
    await server.fault({ kind: 'status', status, body: 'no' });
    const { error } = await settled(callTool(owned, 'append', { key: `${status}` }));
    expect(error).toMatchObject({ code: status });
    expect(server.ledger.runs(`${status}`)).toBe(0);
    await callTool(other, 'append', { key: `other ${status}` });
  }
  expect([owned.handle.state, other.handle.state]).toEqual(['ready', 'ready']);
  expect([server.ledger.initializes(), server.ledger.requests('ping')]).toEqual([2, 0]);
});

it('case 102: an expiry hidden in a tool’s own error is passed on, and nothing is guessed', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  const result = await callTool(owned, 'fails', { key: 'x' });
  expect(result).toMatchObject({ isError: true, content: [{ text: 'Session terminated' }] });
  expect([server.ledger.runs('x'), server.ledger.initializes(), owned.handle.generation]).toEqual([1, 1, 1]);
});
