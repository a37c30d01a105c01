// Owned, Streamable HTTP: an answer that can no longer come settles its call at once, not at its timeout (60 s).

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deferred } from '../support/deferred.ts';
import { type Cut, NO_LISTEN_STREAM, startProxy } from '../support/fault-proxy.ts';
import type { Fault } from '../support/faults.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, type Owned, own, type Settled, settled } from '../support/owned.ts';
import { startRelay } from '../support/tcp-relay.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
/** What the issue allows from the event to the settling. */
const LIMIT_MS = 250;

let server: TestServer;
let resumable: TestServer;
beforeAll(async () => {
  [server, resumable] = await Promise.all([startServer(), startServer({ eventStore: true })]);
});
afterAll(() => Promise.all([server, resumable].map((each) => each[Symbol.asyncDispose]())));

/** Both clocks are this machine's; the ledger's `at` is the time of the event in the server's process. */
function expectSoonAfter(event: number, end: Settled): void {
  expect(end.at - event).toBeLessThanOrEqual(LIMIT_MS);
}

describe('settles within 250 ms of', () => {
  const cuts: [string, Cut][] = [
    ['a clean EOF after SSE headers', 'eof'],
    ['a reset after SSE headers', 'rst'],
    ['a FIN after SSE headers', 'fin'],
  ];
  it.each(cuts)('%s, with the call running', async (_name, how) => {
    await using proxy = await startProxy(server.port);
    proxy.always('GET', NO_LISTEN_STREAM);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    server.ledger.clear();
    proxy.next('tools/call', { kind: 'cut-after-headers', how, early: true });
    const end = await settled(callTool(owned, 'append', { key: 'x', holdMs: 3_000 }, MINUTE));
    // Its effect comes before the headers; the cut 30 ms after them.
    expectSoonAfter(server.ledger.events('run')[0]!.at + 30, end);
    expectEnding(end, { unknown: 'answer-lost' });
    expect(server.ledger.runs('x')).toBe(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.initializes()).toBe(0);
  });

  const faults: [string, Fault][] = [
    ['a 202 to the request', { kind: 'accept202' }],
    ['a 202 after the server ran it', { kind: 'accept202', when: 'after' }],
  ];
  it.each(faults)('%s', async (_name, fault) => {
    await using proxy = await startProxy(server.port);
    proxy.always('GET', NO_LISTEN_STREAM);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    server.ledger.clear();
    await server.fault(fault);
    const end = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
    const event = server.ledger.events('run')[0] ?? server.ledger.events('fault')[0];
    expectSoonAfter(event!.at, end);
    expectEnding(end, { unknown: 'answer-lost' });
    expect(server.ledger.runs('x')).toBe(fault.when === 'after' ? 1 : 0);
  });

  it('the eviction of its session', async () => {
    await using owned = own(http(server.url));
    await owned.ready();
    server.ledger.clear();
    const end = await settled(callTool(owned, 'evictMe', { key: 'x', holdMs: 3_000 }, MINUTE));
    expectSoonAfter(server.ledger.events('evicted')[0]!.at, end);
    expectEnding(end, { unknown: 'answer-lost' });
    expect(server.ledger.runs('x')).toBe(1);
  });

  it.each([404, 405])('the last attempt to resume it, answered with %i', async (status) => {
    await using relay = await startRelay(resumable.port);
    await using proxy = await startProxy(relay.port);
    await using owned = own(http(proxy.url()));
    await until(() => proxy.openStreams === 1);
    resumable.ledger.clear();
    let lastGet = 0;
    let gets = proxy.gets;
    const look = () => {
      if (proxy.gets > gets) lastGet = Date.now();
      gets = proxy.gets;
    };
    const watch = setInterval(look, 2);
    proxy.always('GET', { kind: 'answer', status, forwarded: false });
    const call = resumableCall(owned, 4_000);
    await call.canBeResumed;
    expect(relay.cut('"tools/call"')).toBe(1);
    const end = await call.settled;
    look();
    look();
    clearInterval(watch);
    expect(end.ms).toBeLessThan(10_000);
    expectSoonAfter(lastGet, end);
    expectEnding(end, { unknown: 'answer-lost' });
    expect(resumable.ledger.runs('x')).toBe(1);
    expect(proxy.posts('tools/call')).toBe(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(resumable.ledger.initializes(), 'the session is well').toBe(0);
  });

  it('the discovery that the server is gone, where the stream could have been resumed', async () => {
    await using store = await startServer({ eventStore: true });
    await using owned = own(http(store.url), { recovery: { maxAttempts: 500, maxBackoffMs: 20 } });
    let lostAt = 0;
    owned.handle.on('lost', ({ at }) => {
      lostAt ||= at;
    });
    await until(() => store.ledger.count('get') === 1);
    const call = resumableCall(owned, 4_000);
    await call.canBeResumed;
    await until(() => store.ledger.runs('x') === 1);
    const killedAt = Date.now();
    await store.kill();
    const end = await call.settled;
    expect(end.at - killedAt, 'not at its timeout').toBeLessThan(5_000);
    expectSoonAfter(lostAt, end);
    expectEnding(end, { unknown: ['answer-lost', 'connection-closed', 'request-cut'] });
    expect(store.ledger.runs('x')).toBe(1);
    await store.start();
    await callTool(owned, 'append', { key: 'later' });
    expect(store.ledger.runs('later')).toBe(1);
    expect(store.ledger.runs('x')).toBe(1);
  });
});

describe('does not settle', () => {
  it('a call whose answer stream is resumed: one answer, one run, one POST', async () => {
    await using relay = await startRelay(resumable.port);
    await using proxy = await startProxy(relay.port);
    await using owned = own(http(proxy.url()));
    await until(() => proxy.openStreams === 1);
    resumable.ledger.clear();
    const call = resumableCall(owned, 800);
    await call.canBeResumed;
    expect(relay.cut('"tools/call"')).toBe(1);
    expectEnding(await call.settled, 'answered');
    expect(resumable.ledger.runs('x')).toBe(1);
    expect(proxy.posts('tools/call')).toBe(1);
    expect(resumable.ledger.count('get', ({ lastEventId }) => lastEventId !== undefined)).toBeGreaterThan(0);
    expect(resumable.ledger.initializes()).toBe(0);
    expect(owned.handle.generation).toBe(1);
  });

  it('a sibling of a call whose answer was lost', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    server.ledger.clear();
    const sibling = settled(callTool(owned, 'append', { key: 'sibling', holdMs: 700 }, MINUTE));
    await until(() => server.ledger.runs('sibling') === 1);
    proxy.next('tools/call', { kind: 'cut-after-headers', how: 'eof', early: true });
    expectEnding(await settled(callTool(owned, 'append', { key: 'x', holdMs: 700 }, MINUTE)), {
      unknown: 'answer-lost',
    });
    expectEnding(await sibling, 'answered');
    expect(server.ledger.runs('sibling')).toBe(1);
    expect(owned.handle.generation).toBe(1);
  });
});

/** `canBeResumed`: the client has read the first event of its answer. */
function resumableCall({ handle }: Owned, holdMs: number) {
  const first = deferred<string>();
  const call = handle.callTool({ name: 'append', arguments: { key: 'x', holdMs } }, undefined, {
    timeout: MINUTE,
    onresumptiontoken: first.resolve,
  });
  return { settled: settled(call), canBeResumed: first.promise };
}
