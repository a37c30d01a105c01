// A server that is busy answers nothing, no ping either: what the host gave up meanwhile explains its silence.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { callTool, expectEnding, type Owned, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';
import { BY_VERSION_2, type Reached, WAYS } from '../support/ways.ts';

expectNoCrashes();

/** Without anything outstanding, the first ping that is not answered would be a loss. */
const liveness = { probeTimeoutMs: 100, missedProbes: 1, silenceMs: 0, busySilenceMs: 60_000 };

/** The words of both SDKs. */
const TIMED_OUT = { passes: { message: expect.stringContaining('Request timed out') } };

async function expectTheSame({ ledger }: Reached, owned: Owned): Promise<void> {
  await callTool(owned, 'append', { key: 'next' });
  expect(ledger.runs('next')).toBe(1);
  expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
  expect([ledger.count('spawn'), ledger.initializes(), ledger.deletes()]).toEqual([1, 1, 0]);
  expect(owned.states()).not.toContain('lost');
}

describe.concurrent.each([...WAYS, ...BY_VERSION_2])('%s', (_way, reach) => {
  it('a call times out while the server is busy with it: it finishes, and the connection stays', async () => {
    await using reached = await reach();
    await using owned = own(reached.recipe, { liveness });
    await owned.ready();
    const before = Date.now();
    expectEnding(await settled(callTool(owned, 'block', { key: 'x', ms: 1_500 }, 200)), TIMED_OUT);
    await until(() => owned.handle.status.suspectSince !== undefined, { what: 'the suspicion' });
    expect(owned.handle.status.suspectSince).toBeGreaterThanOrEqual(before);
    await until(() => reached.ledger.runs('x') === 1, { what: 'the end of the work' });
    await expectTheSame(reached, owned);
    await until(() => owned.handle.status.suspectSince === undefined, { what: 'the end of the suspicion' });
  });

  it('busy after it was idle for long: silence begins when something is asked', async () => {
    await using reached = await reach();
    await using owned = own(reached.recipe, {
      liveness: { probeTimeoutMs: 50, missedProbes: 2, silenceMs: 0, busySilenceMs: 3_000 },
    });
    await owned.ready();
    const since = performance.now();
    await until(() => performance.now() - since > 3_100);
    expectEnding(await settled(callTool(owned, 'block', { key: 'x', ms: 1_200 }, 200)), TIMED_OUT);
    await until(() => reached.ledger.runs('x') === 1, { what: 'the end of the work' });
    await expectTheSame(reached, owned);
  });

  it('calls are aborted and time out, others are in flight: all run once', async () => {
    await using reached = await reach();
    await using owned = own(reached.recipe, { liveness: { ...liveness, heartbeatMs: 50 } });
    await owned.ready();
    const aborting = new AbortController();
    const { signal } = aborting;
    const args = { name: 'block', arguments: { key: 'aborted', ms: 1_000 } };
    const aborted = settled(owned.handle.callTool(args, undefined, { signal }));
    const timedOut = ['a', 'b'].map((key) => settled(callTool(owned, 'block', { key, ms: 200 }, 300)));
    const inFlight = settled(callTool(owned, 'append', { key: 'in flight' }));
    await until(() => reached.ledger.count('call', ({ key }) => key === 'aborted') === 1);
    aborting.abort();
    expectEnding(await aborted, { passes: { message: expect.stringMatching(/abort/i) } });
    for (const each of timedOut) expectEnding(await each, TIMED_OUT);
    const later = settled(callTool(owned, 'append', { key: 'later' }));
    for (const each of [inFlight, later]) expectEnding(await each, 'answered');
    const keys = ['aborted', 'a', 'b', 'in flight', 'later'];
    expect(keys.map((key) => reached.ledger.runs(key))).toEqual([1, 1, 1, 1, 1]);
    await expectTheSame(reached, owned);
  });
});
