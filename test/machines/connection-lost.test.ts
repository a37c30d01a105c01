// `lost`, the one decision point. Invariant 2: a caller-owned connection leaves it for `failed-ownership`, always.
// An owned one is recreated if it is eager, or for a demand of an operation that may be sent (again); it is exhausted
// if the budget is spent, and otherwise it rests. Invariant 1: nothing of a caller is opened.
import { describe, expect, it } from 'vitest';
import type { DemandedOperation, ReplayPolicy } from '../../machines/vocabulary.ts';
import { OPERATION_KINDS } from '../paths/connection-fixtures.ts';
import { ConnectionDriver } from './connection-driver.ts';

/** May an operation of this policy be sent (again), given what is known of it? By hand. */
const MAY_BE_SENT: Record<ReplayPolicy, Record<DemandedOperation['execution'], boolean>> = {
  safe: { unsent: true, none: true, unknown: true, answered: false },
  'if-unsent': { unsent: true, none: true, unknown: false, answered: false },
  never: { unsent: true, none: false, unknown: false, answered: false },
};

const CASES = Object.entries(MAY_BE_SENT).flatMap(([policy, byExecution]) =>
  Object.entries(byExecution).map(([execution, may]) => ({ policy, execution, may })),
) as { policy: ReplayPolicy; execution: DemandedOperation['execution']; may: boolean }[];

describe.each(OPERATION_KINDS)('a %s operation demands a connection that is lost', (kind) => {
  it.each(CASES)('$policy, execution $execution', async ({ policy, execution, may }) => {
    const operation = { kind, policy, execution };

    const onDemand = (await new ConnectionDriver().opened()).lose().demand(operation);
    expect(onDemand.state).toBe(may ? 'recreating.backingOff' : 'lost');

    const spent = (await new ConnectionDriver({ maxAttempts: 1 }).opened()).lose().demand(operation);
    expect(spent.state).toBe(may ? 'exhausted.cooling' : 'lost');
    expect(spent.opens).toHaveLength(1);

    for (const ownership of ['caller-client', 'caller-session'] as const) {
      for (const recreate of ['eager', 'on-demand'] as const) {
        const lent = new ConnectionDriver({ ownership, recreate }).send({ type: 'verified' });
        expect(lent.lose().demand(operation).state).toBe('failed-ownership');
        expect([lent.opens, lent.retires]).toEqual([[], []]);
      }
    }
  });
});

describe('no operation demands it', () => {
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

it('a demand of the generation before, which came late, changes nothing', async () => {
  const driver = (await new ConnectionDriver().opened()).lose();
  const operation = { kind: 'tool', policy: 'safe', execution: 'none' } as const;
  driver.send({ type: 'demand', generation: 0, operation });
  expect(driver.state).toBe('lost');
});

describe('what is said', () => {
  it('owned: lost, then recreating, and `opened` only after the handshake of the new generation', async () => {
    const driver = (await new ConnectionDriver({ recreate: 'eager' }).opened()).lose();
    const before = driver.emitted.length;
    await driver.pass(100).retired();
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
