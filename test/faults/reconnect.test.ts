// reconnect(): the calls in flight settle, the old one ends, a new one begins; those who wait meanwhile know why.

import { describe, expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, sse, stdio } from '../support/owned.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const drain = { timeouts: { drainTimeoutMs: 20_000 } } as const;

const VENUES = [
  ['HTTP, answers as SSE', async () => ((s) => ({ server: s, to: http(s.url) }))(await startServer())],
  [
    'HTTP, answers as JSON',
    async () => ((s) => ({ server: s, to: http(s.url) }))(await startServer({ answers: 'json' })),
  ],
  [
    'legacy SSE',
    async () => ((s) => ({ server: s, to: sse(s.url) }))(await startServer({ transport: 'sse' })),
  ],
  ['stdio', async () => ((s) => ({ server: s, to: stdio(s) }))(stdioServer())],
] as const;

describe.each(VENUES)('%s', (_name, venue) => {
  it('a call in flight is answered on the old one; one made meanwhile waits, and runs on the new one', async () => {
    const { server, to } = await venue();
    await using _server = server;
    await using owned = own(to, drain);
    await owned.ready();
    const inFlight = settled(callTool(owned, 'append', { key: 'old', holdMs: 700 }));
    await until(() => server.ledger.runs('old') === 1);
    const reconnected = owned.handle.reconnect();
    const meanwhile = settled(callTool(owned, 'append', { key: 'new' }));
    expect(owned.handle.status).toMatchObject({
      state: 'recreating',
      reason: 'requested',
      inFlight: 1,
      waiting: 1,
    });
    expect((await inFlight).error).toBeUndefined();
    await reconnected;
    expect((await meanwhile).error).toBeUndefined();
    const order = server.ledger.events().map(({ event, key }) => key ?? event);
    expect(order.lastIndexOf('old')).toBeLessThan(order.lastIndexOf('initialize'));
    expect(order.lastIndexOf('initialize')).toBeLessThan(order.indexOf('new'));
    expect([server.ledger.runs('old'), server.ledger.runs('new')]).toEqual([1, 1]);
    expect(owned.handle.generation).toBe(2);
  });

  it('a call that takes longer than drainTimeoutMs is cut, and knows that it may have run', async () => {
    const { server, to } = await venue();
    await using _server = server;
    await using owned = own(to, { timeouts: { drainTimeoutMs: 200 } });
    await owned.ready();
    const inFlight = settled(callTool(owned, 'hang', { key: 'x' }, MINUTE));
    await until(() => server.ledger.runs('x') === 1);
    await owned.handle.reconnect();
    expect((await inFlight).error).toMatchObject({ code: 'outcome-unknown' });
    await callTool(owned, 'append', { key: 'next' });
    expect([server.ledger.runs('x'), server.ledger.runs('next'), server.ledger.initializes()]).toEqual([
      1, 1, 2,
    ]);
  });

  it('a call whose deadline passes meanwhile is told that the generation before has not ended', async () => {
    const { server, to } = await venue();
    await using _server = server;
    await using owned = own(to, drain);
    await owned.ready();
    const inFlight = settled(callTool(owned, 'append', { key: 'old', holdMs: 1_500 }));
    await until(() => server.ledger.runs('old') === 1);
    const reconnected = owned.handle.reconnect();
    const { error } = await settled(callTool(owned, 'append', { key: 'hasty' }, 100));
    expect(error).toMatchObject({ name: 'ConnectionUnavailableError', why: 'deadline' });
    expect(String(error)).toContain('the generation before it has not ended');
    expect(String(error)).toContain('tools/call was not sent');
    expect(String(error)).not.toContain('could not be made');
    expect((await inFlight).error, 'it was still draining').toBeUndefined();
    await reconnected;
    expect(server.ledger.runs('hasty')).toBe(0);
  });

  it('a second reconnect() meanwhile joins', async () => {
    const { server, to } = await venue();
    await using _server = server;
    await using owned = own(to, drain);
    await owned.ready();
    const inFlight = settled(callTool(owned, 'append', { key: 'old', holdMs: 500 }));
    await until(() => server.ledger.runs('old') === 1);
    await Promise.all([owned.handle.reconnect(), owned.handle.reconnect()]);
    expect((await inFlight).error).toBeUndefined();
    expect([owned.handle.generation, server.ledger.initializes()]).toEqual([2, 2]);
  });

  it('close() meanwhile ends everything, and nothing is opened', async () => {
    const { server, to } = await venue();
    await using _server = server;
    await using owned = own(to, drain);
    await owned.ready();
    const inFlight = settled(callTool(owned, 'append', { key: 'old', holdMs: 500 }));
    await until(() => server.ledger.runs('old') === 1);
    const reconnected = settled(owned.handle.reconnect());
    const waiting = settled(callTool(owned, 'append', { key: 'waiting' }, MINUTE));
    await owned.handle.close();
    expect((await inFlight).error, 'it may still settle').toBeUndefined();
    for (const { error } of [await reconnected, await waiting]) {
      expect(error).toMatchObject({ name: 'ConnectionClosedError' });
    }
    expect([server.ledger.runs('waiting'), server.ledger.initializes()]).toEqual([0, 1]);
    expect(owned.handle.state).toBe('closed');
  });
});

it('the old session is lost while it drains: the new one comes, and the call that did not run runs there', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), drain);
  await owned.ready();
  const inFlight = settled(callTool(owned, 'append', { key: 'old', holdMs: 60_000 }, MINUTE));
  await until(() => server.ledger.runs('old') === 1);
  await server.fault({ kind: 'hold' });
  const late = settled(callTool(owned, 'append', { key: 'late' }));
  await until(() => server.ledger.count('fault') === 1);
  const reconnected = owned.handle.reconnect();
  await server.evict();
  await server.release();
  expect((await inFlight).error).toMatchObject({ code: 'outcome-unknown' });
  await reconnected;
  expect((await late).error).toBeUndefined();
  expect([server.ledger.runs('old'), server.ledger.runs('late')]).toEqual([1, 1]);
  expect(owned.handle.generation).toBe(2);
});

it('an onlooker sees `recreating.retiring` before `recreating.opening`', async () => {
  await using server = await startServer();
  const seen: string[] = [];
  await using supervisor = createSupervisor({
    clientInfo: { name: 'host', version: '1.0.0' },
    inspect: (event) => {
      // The actors that it invokes have no states.
      if (event.type !== '@xstate.snapshot' || !('value' in event.snapshot)) return;
      const value = JSON.stringify(event.snapshot.value);
      if (value !== seen.at(-1)) seen.push(value);
    },
  });
  const handle = supervisor.own('files', { transport: http(server.url) });
  await handle.ready();
  const inFlight = handle.callTool({ name: 'append', arguments: { key: 'old', holdMs: 700 } });
  await until(() => server.ledger.runs('old') === 1);
  const reconnected = handle.reconnect();
  await until(() => seen.includes('{"recreating":"retiring"}'));
  expect(seen).not.toContain('{"recreating":"opening"}');
  expect(handle.status.inFlight).toBe(1);
  await Promise.all([inFlight, reconnected]);
  await until(() => seen.at(-1) === '{"ready":"steady"}');
  const order = seen.filter((value) => value.startsWith('{"recreating"'));
  expect(order).toEqual(['{"recreating":"retiring"}', '{"recreating":"opening"}']);
});
