// A server that never answers a ping, and answers everything else: it lives for as long as it answers anything.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import type { Fault } from '../support/faults.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, type Owned, own, settled } from '../support/owned.ts';
import { lossOf, ProbeLog } from '../support/silence.ts';
import { until } from '../support/until.ts';
import { OVER_HTTP, type Reached, WAYS } from '../support/ways.ts';

expectNoCrashes();

const MUTE: Fault = { on: 'ping', kind: 'never', times: 'always' };

/** It has answered what was sent after a ping that it did not answer. */
async function findOut(owned: Owned, probes: ProbeLog): Promise<void> {
  await owned.ready();
  await probes.untilUnanswered(1);
  await callTool(owned, 'append', { key: 'found out' });
}

function expectNeverLost({ ledger }: Reached, owned: Owned): void {
  expect(owned.states()).not.toContain('lost');
  expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
  expect([ledger.count('spawn'), ledger.initializes(), ledger.deletes()]).toEqual([1, 1, 0]);
}

describe.concurrent.each(WAYS)('%s', (_way, reach) => {
  it('heartbeats: it is called now and then, and is not lost', async () => {
    await using reached = await reach({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: { heartbeatMs: 20, probeTimeoutMs: 30, missedProbes: 2, silenceMs: 2_000 },
    });
    await findOut(owned, probes);
    const since = performance.now();
    // Much longer than the silence that would be a loss; nobody calls.
    await until(() => performance.now() - since > 3_000);
    expectNeverLost(reached, owned);
    await callTool(owned, 'append', { key: 'x' });
    expectNeverLost(reached, owned);
  });

  it('slow calls, after it was idle for long: each has its own time', async () => {
    await using reached = await reach({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: { heartbeatMs: 20, probeTimeoutMs: 30, missedProbes: 2, silenceMs: 1_000 },
    });
    await findOut(owned, probes);
    for (let n = 0; n < 3; n++) {
      const since = performance.now();
      await until(() => performance.now() - since > 1_100);
      await callTool(owned, 'append', { key: `${n}`, holdMs: 300 });
    }
    expectNeverLost(reached, owned);
  });

  it('idle for so long that it is lost: the next one is known, and stays', async () => {
    await using reached = await reach({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      recovery: { recreate: 'eager' },
      liveness: { heartbeatMs: 20, probeTimeoutMs: 30, missedProbes: 2, silenceMs: 100 },
    });
    await owned.ready();
    await lossOf(owned);
    await until(() => owned.handle.generation === 2);
    const pings = reached.ledger.requests('ping');
    await until(() => reached.ledger.requests('ping') > pings, { what: 'a ping to the next' });
    const since = performance.now();
    // Much longer than the silence that was a loss; nobody calls.
    await until(() => performance.now() - since > 1_500);
    await callTool(owned, 'append', { key: 'x' });
    expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 2 });
    expect([reached.ledger.initializes(), reached.ledger.runs('x')]).toEqual([2, 1]);
  });

  it('one that was only busy, and answers pings again, is found when it hangs', async () => {
    await using reached = await reach({ faults: [{ ...MUTE, times: 1 }] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: { heartbeatMs: 20, probeTimeoutMs: 200, missedProbes: 2, silenceMs: 300 },
    });
    await findOut(owned, probes);
    const pings = reached.ledger.requests('ping');
    await until(() => reached.ledger.requests('ping') > pings + 2);
    process.kill(reached.pid(), 'SIGSTOP');
    await lossOf(owned);
  });

  it('a call that timed out: it is not lost while it answers others', async () => {
    await using reached = await reach({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: { probeTimeoutMs: 50, missedProbes: 2, silenceMs: 0, busySilenceMs: 2_000 },
    });
    await owned.ready();
    for (const key of ['a', 'b']) {
      await settled(callTool(owned, 'hang', { key }, 100));
      await probes.untilUnanswered(1);
      const since = performance.now();
      await until(async () => {
        await callTool(owned, 'append', { key: 'x' });
        return performance.now() - since > 2_500;
      });
      expectNeverLost(reached, owned);
    }
  });

  it('one that answers nothing any more is found', async () => {
    await using reached = await reach({ faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: {
        heartbeatMs: 20,
        probeTimeoutMs: 30,
        missedProbes: 3,
        silenceMs: 60_000,
        busySilenceMs: 800,
      },
    });
    await findOut(owned, probes);
    const hung = reached.pid();
    process.kill(hung, 'SIGSTOP');
    const lost = lossOf(owned);
    await settled(callTool(owned, 'append', { key: 'x' }, 100));
    await lost;
    const next = callTool(owned, 'append', { key: 'next' });
    if (reached.pid() === hung) process.kill(hung, 'SIGCONT');
    await next;
    expect([owned.handle.generation, reached.ledger.runs('next')]).toEqual([2, 1]);
  });
});

describe.each(Object.entries(OVER_HTTP))('%s', (way) => {
  it('a ping may still bring a 404', async () => {
    const transport = way.startsWith('legacy') ? 'sse' : 'http';
    const answers = way.includes('JSON') ? 'json' : 'sse';
    await using server = await startServer({ transport, answers, faults: [MUTE] });
    const probes = new ProbeLog();
    await using owned = own(
      { kind: transport, url: server.url },
      { logger: probes.logger, liveness: { heartbeatMs: 20, probeTimeoutMs: 30 } },
    );
    await findOut(owned, probes);
    const lost = lossOf(owned);
    await server.clearFaults();
    await server.evict(undefined, { silent: true });
    expect(await lost).toMatchObject({ cause: 'session-unknown' });
    await callTool(owned, 'append', { key: 'next' });
    expect([owned.handle.generation, server.ledger.runs('next')]).toEqual([2, 1]);
  });
});

const UNKNOWN: Fault = { on: 'ping', kind: 'rpc-error', code: -32601, times: 'always' };

describe.each(WAYS.slice(0, 3))('%s: busy after it was idle for long', (_way, reach) => {
  it.each([
    ['never answers a ping', MUTE],
    ['says that it knows none', UNKNOWN],
  ])('one that %s', async (_what, fault) => {
    await using reached = await reach({ faults: [fault] });
    await using owned = own(reached.recipe, {
      liveness: { heartbeatMs: 20, probeTimeoutMs: 30, missedProbes: 2, busySilenceMs: 3_000 },
    });
    await owned.ready();
    await until(() => reached.ledger.requests('ping') > 0);
    for (const key of ['a', 'b']) await callTool(owned, 'append', { key, holdMs: 100 });
    const since = performance.now();
    await until(() => performance.now() - since > 3_100);
    await settled(callTool(owned, 'block', { key: 'x', ms: 1_200 }, 200));
    await until(() => reached.ledger.runs('x') === 1, { what: 'the end of the work' });
    await callTool(owned, 'append', { key: 'next' });
    expectNeverLost(reached, owned);
  });
});

it('one that says that it knows no ping, and then answers nothing, is found', async () => {
  await using server = await startServer({ faults: [UNKNOWN] });
  await using owned = own(http(server.url), {
    liveness: { heartbeatMs: 20, probeTimeoutMs: 50, missedProbes: 2, busySilenceMs: 500 },
  });
  await owned.ready();
  await until(() => server.ledger.requests('ping') === 1);
  server.pause();
  const lost = lossOf(owned);
  await settled(callTool(owned, 'append', { key: 'x' }, 100));
  expect(await lost).toMatchObject({ cause: 'timeout' });
  server.resume();
  await callTool(owned, 'append', { key: 'next' });
  expect(owned.handle.generation).toBe(2);
});
