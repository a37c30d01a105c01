// Invariant 7 of machines/connection.machine.ts: a suspicion does not leave `ready`, and silence alone is a loss only
// after so many probes, so long a silence, and with no earlier call in flight.
import { expect, it } from 'vitest';
import type { SilenceFacts } from '../../machines/connection.machine.ts';
import type { Cause } from '../../machines/vocabulary.ts';
import { ConnectionDriver } from './connection-driver.ts';

const SILENT: SilenceFacts = {
  silentMs: 2_000,
  outstanding: false,
  inFlight: false,
  earlierCallInFlight: false,
};

const unanswered = (silence: Partial<SilenceFacts> = {}) =>
  ({ verdict: 'unanswered', cause: 'heartbeat', silence: { ...SILENT, ...silence } }) as const;

/** So many probes in a row that were not answered. */
async function silent(probes: number, silence: Partial<SilenceFacts> = {}, suspicion: Cause = 'heartbeat') {
  const driver = (await new ConnectionDriver().opened()).suspect(suspicion);
  for (let probe = 1; probe <= probes; probe++) {
    await driver.probed(unanswered(silence));
    if (probe < probes) driver.pass(Math.min(3_000, 1_000 * 2 ** (probe - 1)));
  }
  return driver;
}

it('one probe at a time; leaving `ready` aborts it, and its late verdict changes nothing', async () => {
  const driver = await new ConnectionDriver().opened();
  for (let report = 0; report < 10; report++) driver.suspect();
  expect(driver.probes).toHaveLength(1);
  expect(driver.probes[0]?.input).toEqual({ generation: 1, suspicion: 'deaf' });
  driver.lose();
  expect(driver.probes[0]?.signal.aborted).toBe(true);
  const before = driver.trace;
  await driver.probed({ verdict: 'usable', cause: 'deaf' });
  expect(driver.trace).toBe(before);
});

it('the third unanswered probe in a row is a loss, and the distance to it grows', async () => {
  const driver = (await new ConnectionDriver().opened()).suspect('heartbeat');
  for (const [probe, distance] of [1_000, 2_000].entries()) {
    await driver.probed(unanswered());
    expect(driver.state).toBe('ready.suspect');
    driver.pass(distance - 1);
    expect(driver.probes).toHaveLength(probe + 1);
    driver.pass(1);
    expect(driver.probes).toHaveLength(probe + 2);
  }
  await driver.probed(unanswered());
  expect(driver.state).toBe('lost');
  expect(driver.context.cause).toBe('heartbeat');
});

it.each<[string, Partial<SilenceFacts>]>([
  ['something was heard lately', { silentMs: 1_999 }],
  ['something is outstanding', { silentMs: 2_999, outstanding: true }],
  ['a call from before is in flight', { silentMs: 9_999, inFlight: true, earlierCallInFlight: true }],
])('no number of probes is a loss while %s', async (_name, silence) => {
  expect((await silent(10, silence)).state).toBe('ready.suspect');
});

it.each<[string, Partial<SilenceFacts>]>([
  ['a call that was sent later', { inFlight: true }],
  ['what is outstanding, after `busySilenceMs`', { silentMs: 3_000, outstanding: true }],
])('%s does not keep it from being lost', async (_name, silence) => {
  expect((await silent(3, silence)).state).toBe('lost');
});

it('a message clears, and the count begins anew', async () => {
  const driver = (await silent(2)).heard();
  expect(driver.state).toBe('ready.steady');
  driver.suspect('heartbeat');
  for (const distance of [1_000, 2_000]) {
    await driver.probed(unanswered());
    expect(driver.state).toBe('ready.suspect');
    driver.pass(distance);
  }
});

it('after the host has slept, one is enough where nothing explains the silence', async () => {
  expect((await silent(1, { silentMs: 0 }, 'host-slept')).state).toBe('lost');
  expect((await silent(1, { inFlight: true }, 'host-slept')).state).toBe('ready.suspect');
  expect((await silent(1, { outstanding: true }, 'host-slept')).state).toBe('ready.suspect');
});

it('definitive evidence is looked for at once, and silence not, in between two probes', async () => {
  const driver = (await silent(1)).suspect('timeout').suspect('heartbeat');
  expect(driver.state).toBe('ready.suspect');
  driver.suspect('session-rejected');
  expect(driver.probes.at(-1)?.input).toEqual({ generation: 1, suspicion: 'session-rejected' });
  await driver.probed({ verdict: 'lost', cause: 'session-unknown' });
  expect(driver.state).toBe('lost');
});

it('a caller-owned connection is never lost by silence, and is by a probe that finds it gone', async () => {
  const driver = new ConnectionDriver({ ownership: 'caller-client', missedProbes: 1 });
  driver.send({ type: 'verified' }).suspect('host-slept');
  for (let probe = 0; probe < 10; probe++) {
    await driver.probed(unanswered({ silentMs: 1_000_000 }));
    expect(driver.state).toBe('ready.suspect');
    driver.pass(3_000);
  }
  await driver.probed({ verdict: 'lost', cause: 'session-unknown' });
  expect(driver.state).toBe('failed-ownership');
});
