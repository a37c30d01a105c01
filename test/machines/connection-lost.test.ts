// `lost`, the one decision point. Invariant 2: a caller-owned connection leaves it for `failed-ownership`, always,
// whatever was stricken. An owned one is recreated if it is eager or if the stricken operation may be sent again,
// it is exhausted if the budget is spent, and otherwise it rests. Invariant 1: nothing of a caller is opened.
import { describe, expect, it } from 'vitest';
import type { StrickenOperation } from '../../machines/connection.machine.ts';
import type { ReplayPolicy } from '../../machines/vocabulary.ts';
import { OPERATION_KINDS } from '../paths/connection-fixtures.ts';
import { ConnectionDriver } from './connection-driver.ts';

/** May an operation of this policy be sent again, given what is known of it? By hand. */
const MAY_BE_SENT_AGAIN: Record<ReplayPolicy, Record<StrickenOperation['execution'], boolean>> = {
  safe: { none: true, unknown: true },
  'if-unsent': { none: true, unknown: false },
  never: { none: false, unknown: false },
};

const STRICKEN = Object.entries(MAY_BE_SENT_AGAIN).flatMap(([policy, byExecution]) =>
  Object.entries(byExecution).map(([execution, wanted]) => ({ policy, execution, wanted })),
) as { policy: ReplayPolicy; execution: 'none' | 'unknown'; wanted: boolean }[];

describe.each(OPERATION_KINDS)('a stricken %s operation', (kind) => {
  it.each(STRICKEN)('$policy, execution $execution', async ({ policy, execution, wanted }) => {
    const stricken = { kind, policy, execution };

    const onDemand = (await new ConnectionDriver().opened()).lose(stricken);
    expect(onDemand.state).toBe(wanted ? 'recreating.backingOff' : 'lost');

    const spent = (await new ConnectionDriver({ maxAttempts: 1 }).opened()).lose(stricken);
    expect(spent.state).toBe(wanted ? 'exhausted.cooling' : 'lost');
    expect(spent.opens).toHaveLength(1);

    for (const ownership of ['caller-client', 'caller-session'] as const) {
      for (const recreate of ['eager', 'on-demand'] as const) {
        const lent = new ConnectionDriver({ ownership, recreate }).send({ type: 'verified' }).lose(stricken);
        expect(lent.state).toBe('failed-ownership');
        expect(lent.opens).toEqual([]);
      }
    }
  });
});

describe('no operation was stricken', () => {
  it('on demand: it rests, and opens nothing', async () => {
    const driver = (await new ConnectionDriver().opened()).lose();
    expect(driver.state).toBe('lost');
    driver.pass(1_000_000);
    expect(driver.state).toBe('lost');
    expect(driver.opens).toHaveLength(1);
  });

  it('eager: it is recreated at once, or exhausted', async () => {
    expect((await new ConnectionDriver({ recreate: 'eager' }).opened()).lose().state).toBe(
      'recreating.backingOff',
    );
    const spent = await new ConnectionDriver({ recreate: 'eager', maxAttempts: 1 }).opened();
    expect(spent.lose().state).toBe('exhausted.cooling');
  });
});

describe('an operation waits for a probe', () => {
  const waiting = async () => (await new ConnectionDriver().opened()).suspect().send({ type: 'demand' });

  it('whose failure is the loss: it is recreated, for that operation', async () => {
    const failed = await waiting();
    await failed.probed({ verdict: 'lost', cause: 'session-unknown' });
    expect(failed.state).toBe('recreating.backingOff');
    expect((await waiting()).lose().state).toBe('recreating.backingOff');
  });

  it('that is answered: the demand has been met, and a later loss is judged by itself', async () => {
    const driver = await waiting();
    await driver.probed({ verdict: 'usable', cause: 'deaf' });
    expect(driver.state).toBe('ready.steady');
    expect(driver.lose().state).toBe('lost');
  });

  it('of a caller-owned connection: nothing is recreated', async () => {
    const driver = new ConnectionDriver({ ownership: 'caller-client' }).send({ type: 'verified' });
    await driver.suspect().send({ type: 'demand' }).probed({ verdict: 'lost', cause: 'session-unknown' });
    expect(driver.state).toBe('failed-ownership');
  });
});

describe('what is said', () => {
  it('owned: lost, then recreating, and `opened` only after the handshake of the new generation', async () => {
    const driver = (await new ConnectionDriver({ recreate: 'eager' }).opened()).lose();
    const before = driver.emitted.length;
    driver.pass(100);
    expect(driver.emitted).toHaveLength(before);
    await driver.opened();
    expect(driver.emitted).toEqual([
      { type: 'entered', state: 'idle', cause: null },
      { type: 'entered', state: 'connecting', cause: null },
      { type: 'entered', state: 'ready', cause: null },
      { type: 'opened', generation: 1 },
      { type: 'entered', state: 'lost', cause: 'session-unknown' },
      { type: 'lost', generation: 1, cause: 'session-unknown' },
      { type: 'entered', state: 'recreating', cause: 'session-unknown' },
      { type: 'entered', state: 'ready', cause: null },
      { type: 'opened', generation: 2 },
    ]);
  });

  it('caller-owned: lost, and then nothing about recreating', () => {
    const driver = new ConnectionDriver({ ownership: 'caller-client' }).send({ type: 'verified' }).lose();
    expect(driver.emitted.slice(-3)).toEqual([
      { type: 'entered', state: 'lost', cause: 'session-unknown' },
      { type: 'lost', generation: 1, cause: 'session-unknown' },
      { type: 'entered', state: 'failed-ownership', cause: 'session-unknown' },
    ]);
  });

  it('caller-owned and not connected: no loss is claimed of what never was', () => {
    const driver = new ConnectionDriver({ ownership: 'caller-client' }).send({ type: 'unverified' });
    expect(driver.emitted.map(({ type }) => type)).not.toContain('lost');
    expect(driver.context).toMatchObject({ cause: 'not-connected', generation: 0 });
  });
});
