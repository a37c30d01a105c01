// A server that hangs is found: after so many probes and so much silence, and never while an earlier call has time left.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { callTool, expectEnding, type Owned, own, settled } from '../support/owned.ts';
import { lossOf, ProbeLog } from '../support/silence.ts';
import { until } from '../support/until.ts';
import { type Reached, WAYS } from '../support/ways.ts';

expectNoCrashes();

const stop = (reached: Reached) => process.kill(reached.pid(), 'SIGSTOP');

/** The hung process may go on, if it is still there; what comes next is served by one that answers. */
async function expectRecovered(reached: Reached, owned: Owned, hung: number): Promise<void> {
  const next = callTool(owned, 'append', { key: 'next' });
  if (reached.pid() === hung) process.kill(hung, 'SIGCONT');
  await next;
  expect(reached.ledger.runs('next')).toBe(1);
  expect(owned.handle.generation).toBe(2);
  expect(reached.ledger.initializes()).toBe(2);
}

describe.each(WAYS)('%s', (_way, reach) => {
  it('idle: heartbeats find it, after `missedProbes` and `silenceMs`', async () => {
    await using reached = await reach();
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: { heartbeatMs: 30, probeTimeoutMs: 50, missedProbes: 3, silenceMs: 600 },
    });
    await owned.ready();
    const hung = reached.pid();
    const lost = lossOf(owned);
    const begun = Date.now();
    await owned.handle.ping();
    stop(reached);
    const { at, cause } = await lost;
    expect(cause).toBe('heartbeat');
    expect(at - begun, 'a message came after this began').toBeGreaterThanOrEqual(600);
    expect(probes.unanswered).toBeGreaterThanOrEqual(3);
    await expectRecovered(reached, owned, hung);
  });

  it('with something outstanding: after `busySilenceMs`', async () => {
    await using reached = await reach();
    await using owned = own(reached.recipe, {
      liveness: { probeTimeoutMs: 50, missedProbes: 1, silenceMs: 0, busySilenceMs: 600 },
    });
    await owned.ready();
    const hung = reached.pid();
    const lost = lossOf(owned);
    const begun = Date.now();
    await owned.handle.ping();
    stop(reached);
    const end = await settled(callTool(owned, 'append', { key: 'x' }, 100));
    expectEnding(end, { passes: { message: expect.stringContaining('timed out') } });
    const { at, cause } = await lost;
    expect(cause).toBe('timeout');
    expect(at - begun, 'a message came after this began').toBeGreaterThanOrEqual(600);
    await expectRecovered(reached, owned, hung);
  });

  it('a call from before the first probe has its time; one that was sent later does not prolong it', async () => {
    await using reached = await reach();
    const probes = new ProbeLog();
    await using owned = own(reached.recipe, {
      logger: probes.logger,
      liveness: { heartbeatMs: 400, probeTimeoutMs: 50, missedProbes: 1, silenceMs: 0, busySilenceMs: 0 },
      timeouts: { drainTimeoutMs: 50 },
    });
    await owned.ready();
    const order: string[] = [];
    const note = (what: string) => () => void order.push(what);
    const lost = lossOf(owned).then(note('lost'));
    stop(reached);
    const earlier = settled(callTool(owned, 'append', { key: 'earlier' }, 1_500));
    await probes.untilUnanswered(1);
    const later = settled(callTool(owned, 'append', { key: 'later' }, 60_000));
    await Promise.all([earlier.then(note('earlier')), lost, later.then(note('later'))]);
    expect(order).toEqual(['earlier', 'lost', 'later']);
    expectEnding(await earlier, { passes: { message: expect.stringContaining('timed out') } });
    expect((await later).error).toMatchObject({ code: 'outcome-unknown' });
    expect(probes.unanswered, 'more than one, which was enough').toBeGreaterThan(1);
  });
});

it.each(WAYS.slice(0, 3))('%s: not before `missedProbes`, however long the silence', async (_way, reach) => {
  await using reached = await reach();
  const probes = new ProbeLog();
  await using owned = own(reached.recipe, {
    logger: probes.logger,
    liveness: { heartbeatMs: 30, probeTimeoutMs: 50, missedProbes: 4, silenceMs: 0 },
  });
  await owned.ready();
  const lost = lossOf(owned);
  stop(reached);
  await lost;
  expect(probes.unanswered).toBe(4);
});

it('calls that are sent while it is suspect go out at once, and their answer clears it', async () => {
  const [, reach] = WAYS.find(([way]) => way === 'HTTP, SSE answers')!;
  await using reached = await reach({ faults: [{ on: 'ping', kind: 'never', times: 'always' }] });
  const probes = new ProbeLog();
  await using owned = own(reached.recipe, {
    logger: probes.logger,
    liveness: { probeTimeoutMs: 100, busySilenceMs: 60_000 },
  });
  await owned.ready();
  await settled(callTool(owned, 'hang', { key: 'x' }, 100));
  await probes.untilUnanswered(1);
  await until(() => owned.handle.status.suspectSince !== undefined);
  expect(owned.handle.state).toBe('ready');
  await callTool(owned, 'append', { key: 'meanwhile' });
  await until(() => owned.handle.status.suspectSince === undefined);
  expect(reached.ledger.runs('meanwhile')).toBe(1);
});
