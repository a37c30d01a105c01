// What a row of probes is like, what ends it, and what becomes of an operation that waits for one of them.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import type { Fault } from '../support/faults.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, own, settled, stdio } from '../support/owned.ts';
import { ProbeLog } from '../support/silence.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';
import { WAYS } from '../support/ways.ts';

expectNoCrashes();

const MUTE: Fault = { on: 'ping', kind: 'never', times: 'always' };
const liveness = { probeTimeoutMs: 100, silenceMs: 60_000, busySilenceMs: 60_000 };

/** A server that answers with JSON has nowhere to say anything before its answer. */
const SPEAKING = WAYS.filter(([way]) => !way.includes('JSON'));

const KINDS = ['log', 'progress', 'elicit'] as const;

describe.each(KINDS)('any message clears the suspicion: %s', (as) => {
  it.each(SPEAKING)('%s', async (_way, reach) => {
    await using reached = await reach({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, { logger: probes.logger, liveness });
    await owned.ready();
    const args = { name: 'speak', arguments: { key: 'x', as, everyMs: 500, times: 30 } };
    const speaking = settled(
      owned.handle.callTool(args, undefined, { timeout: 60_000, onprogress: () => {} }),
    );
    await until(() => reached.ledger.count('call', ({ key }) => key === 'x') === 1);
    await settled(callTool(owned, 'hang', { key: 'y' }, 50));
    await probes.untilUnanswered(1);
    await until(() => owned.handle.status.suspectSince === undefined, { what: 'the end of the suspicion' });
    expect(owned.handle.status.inFlight, 'by no answer').toBe(1);
    expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
    await owned.handle.close();
    await speaking;
  });
});

describe('a notification that belongs to no call clears the suspicion', () => {
  it('stdio', async () => {
    await using server = stdioServer({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(stdio(server), { logger: probes.logger, liveness });
    await owned.ready();
    await settled(callTool(owned, 'hang', { key: 'y' }, 50));
    await probes.untilUnanswered(1);
    expect(owned.handle.status.suspectSince).toBeDefined();
    process.kill(server.server(), 'SIGUSR2');
    await until(() => owned.handle.status.suspectSince === undefined);
  });

  it.each(['http', 'sse'] as const)('%s: on the stream for the server’s own messages', async (transport) => {
    await using server = await startServer({ transport, faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own({ kind: transport, url: server.url }, { logger: probes.logger, liveness });
    await owned.ready();
    await until(async () => (await server.streams()) === 1);
    await settled(callTool(owned, 'hang', { key: 'y' }, 50));
    await probes.untilUnanswered(1);
    expect(owned.handle.status.suspectSince).toBeDefined();
    await server.listChanged();
    await until(() => owned.handle.status.suspectSince === undefined);
  });
});

it('the distance from probe to probe grows', async () => {
  await using server = await startServer({ faults: [MUTE] });
  await using owned = own(http(server.url), { liveness: { ...liveness, probeTimeoutMs: 200 } });
  await owned.ready();
  await settled(callTool(owned, 'hang', { key: 'y' }, 50));
  const pings = () => server.ledger.events('request').filter(({ method }) => method === 'ping');
  await until(() => pings().length === 4);
  const [a = 0, b = 0, c = 0, d = 0] = pings().map(({ at }) => at);
  // 400, 600 and 1,000 ms: a timer is never early, and the machine may be slow.
  expect(d - a).toBeGreaterThan(1_700);
  expect(d - c).toBeGreaterThan(b - a + 200);
});

describe('an operation whose failure only a probe can tell from a loss', () => {
  const faults: [string, Fault, object][] = [
    ['400', { kind: 'status', status: 400, body: 'Bad Request' }, { code: 400 }],
    ['-32001', { kind: 'rpc-error', code: -32001, message: 'Session not found' }, { code: -32001 }],
  ];
  it.each(faults)('%s: waits for one probe; unanswered, the failure passes', async (_name, fault, passes) => {
    await using server = await startServer({ faults: [MUTE, fault] });
    const probes = new ProbeLog();
    await using owned = own(http(server.url), { logger: probes.logger, liveness });
    await owned.ready();
    let missed = 0;
    const end = settled(callTool(owned, 'append', { key: 'x' })).then((ended) => {
      missed = probes.unanswered;
      return ended;
    });
    expectEnding(await end, { passes });
    expect([missed, server.ledger.requests('tools/call'), server.ledger.runs('x')]).toEqual([1, 1, 0]);
    expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
    expect(owned.handle.status.suspectSince).toBeDefined();
  });

  it('over stdio, the same', async () => {
    const fault: Fault = { kind: 'rpc-error', code: -32001, message: 'Session not found' };
    await using server = stdioServer({ faults: [MUTE, fault] });
    const probes = new ProbeLog();
    await using owned = own(stdio(server), { logger: probes.logger, liveness });
    await owned.ready();
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { passes: { code: -32001 } });
    expect(server.ledger.runs('x')).toBe(0);
    await callTool(owned, 'append', { key: 'next' });
    expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
  });
});
