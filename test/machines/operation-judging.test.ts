// `judging`, the one decision about an operation in trouble, as a table by hand: invariants 1 to 3 of
// machines/operation.machine.ts, for every ownership, evidence and policy.
import { describe, expect, it } from 'vitest';
import type { OperationInput } from '../../machines/operation.machine.ts';
import type { Cause, Evidence } from '../../machines/vocabulary.ts';
import { OperationDriver } from './operation-driver.ts';

type Verdict = 'passed-through' | 'confirming' | 'refused' | 'awaiting' | 'unavailable' | 'unknown-outcome';

/** What is decided for an operation that was sent once: caller-owned, and owned by policy. */
interface Row {
  lent: Verdict;
  safe: Verdict;
  'if-unsent': Verdict;
  never: Verdict;
}

const everywhere = (verdict: Verdict): Row => ({
  lent: verdict,
  safe: verdict,
  'if-unsent': verdict,
  never: verdict,
});

const UNTOUCHED = everywhere('passed-through');
const LOST_UNRUN: Row = { lent: 'refused', safe: 'awaiting', 'if-unsent': 'awaiting', never: 'unavailable' };
const LOST_UNKNOWN: Row = {
  lent: 'refused',
  safe: 'awaiting',
  'if-unsent': 'unknown-outcome',
  never: 'unknown-outcome',
};
/** Suspect: a probe decides for a caller-owned connection; an owned one acts on what is proven. */
const SUSPECT_UNRUN: Row = { ...LOST_UNRUN, lent: 'confirming' };
const SUSPECT_UNKNOWN: Row = { ...LOST_UNKNOWN, lent: 'confirming' };
/** An answer that means a forgotten session on some servers and an ordinary error on others: only a probe tells. */
const PROBE_TELLS = everywhere('confirming');

const evidence = (
  connection: Evidence['connection'],
  execution: Evidence['execution'],
  cause: Cause,
): Evidence => ({ connection, execution, cause });

const ROWS: [Evidence, Row][] = [
  // A definitive loss.
  [evidence('lost', 'none', 'session-unknown'), LOST_UNRUN],
  [evidence('lost', 'unknown', 'session-unknown'), LOST_UNKNOWN], // trust404: false
  [evidence('lost', 'none', 'not-connected'), LOST_UNRUN],
  [evidence('lost', 'none', 'unwritten'), LOST_UNRUN],
  [evidence('lost', 'unknown', 'connection-closed'), LOST_UNKNOWN],
  [evidence('lost', 'unknown', 'stream-ended'), LOST_UNKNOWN],
  // No loss yet, but the operation was turned away or its answer cannot come.
  [evidence('suspect', 'none', 'unreachable'), SUSPECT_UNRUN],
  [evidence('suspect', 'unknown', 'request-cut'), SUSPECT_UNKNOWN],
  [evidence('suspect', 'unknown', 'answer-lost'), SUSPECT_UNKNOWN],
  [evidence('suspect', 'unknown', 'session-rejected'), PROBE_TELLS],
  [evidence('suspect', 'none', 'session-rejected'), PROBE_TELLS],
  [evidence('suspect', 'unknown', 'session-error'), PROBE_TELLS],
  // No loss: the caller gets the error untouched.
  [evidence('suspect', 'unknown', 'timeout'), UNTOUCHED],
  [evidence('suspect', 'unknown', 'http-error'), UNTOUCHED],
  [evidence('suspect', 'unknown', 'malformed-answer'), UNTOUCHED],
  [evidence('suspect', 'unknown', 'unrecognised'), UNTOUCHED],
  [evidence('usable', 'unknown', 'aborted'), UNTOUCHED],
  [evidence('usable', 'none', 'unauthorized'), UNTOUCHED],
  [evidence('usable', 'none', 'http-refused'), UNTOUCHED],
  [evidence('usable', 'unknown', 'http-error'), UNTOUCHED],
  [evidence('usable', 'none', 'unsupported'), UNTOUCHED],
  [evidence('usable', 'answered', 'rpc-error'), UNTOUCHED],
];

describe.each(ROWS)('sent once, failed with %j', (failure, row) => {
  it.each(['caller-client', 'caller-session'] as const)('%s', (ownership) => {
    for (const policy of ['safe', 'if-unsent', 'never'] as const) {
      const driver = new OperationDriver({ ownership, policy, evidence: failure, sends: 1 });
      expect(driver.state, policy).toBe(row.lent);
      expect(driver.sends, 'never sent again').toBe(0);
      expect(driver.demands).toBe(0);
    }
  });

  it.each(['safe', 'if-unsent', 'never'] as const)('owned, policy %s', (policy) => {
    const driver = new OperationDriver({ policy, evidence: failure, sends: 1 });
    expect(driver.state).toBe(row[policy]);
    expect(driver.demands).toBe(row[policy] === 'awaiting' ? 1 : 0);
    expect(driver.proofsAwaited).toBe(row[policy] === 'confirming' ? 1 : 0);
  });
});

describe('confirmed by a probe: the evidence then counts as a loss', () => {
  const confirmed = ROWS.filter(([, row]) => row.lent === 'confirming');
  it.each(confirmed)('%j', (failure) => {
    const after = failure.execution === 'none' ? LOST_UNRUN : LOST_UNKNOWN;
    for (const ownership of ['supervisor', 'caller-client'] as const) {
      const driver = new OperationDriver({ ownership, evidence: failure, sends: 1, policy: 'if-unsent' });
      if (driver.state !== 'confirming') continue;
      driver.send({ type: 'lost' });
      expect(driver.state).toBe(ownership === 'supervisor' ? after['if-unsent'] : after.lent);
    }
  });
});

describe('an operation that has never been sent', () => {
  it.each([
    ['waits', 'awaiting', null],
    ['not-waiting', 'unavailable', 'not-waiting'],
    ['queue-full', 'unavailable', 'queue-full'],
  ] as const)('%s → %s', (admission, state, unavailability) => {
    for (const policy of ['safe', 'if-unsent', 'never'] as const) {
      for (const ownership of ['supervisor', 'caller-client'] as const) {
        const driver = new OperationDriver({ admission, policy, ownership });
        expect(driver.state).toBe(state);
        expect(driver.context.unavailability).toBe(unavailability);
      }
    }
  });

  it('is refused when its connection was lost and belongs to the caller', () => {
    for (const admission of ['waits', 'not-waiting', 'queue-full'] as const) {
      const failure = evidence('lost', 'none', 'session-unknown');
      const driver = new OperationDriver({ ownership: 'caller-session', evidence: failure, admission });
      expect(driver.state).toBe('refused');
    }
  });
});

describe('how often', () => {
  const lost = (sends: number): Partial<OperationInput> => ({
    policy: 'safe',
    sends,
    evidence: evidence('lost', 'none', 'session-unknown'),
  });

  it.each([
    [0, 'awaiting', null],
    [1, 'awaiting', null],
    [2, 'unavailable', 'sends-spent'],
    [3, 'unavailable', 'sends-spent'],
  ] as const)('after %i sends → %s', (sends, state, unavailability) => {
    const driver = new OperationDriver(lost(sends));
    expect(driver.state).toBe(state);
    expect(driver.context.unavailability).toBe(unavailability);
  });

  it('a safe one whose second send is lost with unknown outcome is not sent a third time', () => {
    const failure = evidence('lost', 'unknown', 'connection-closed');
    expect(new OperationDriver({ policy: 'safe', sends: 2, evidence: failure }).state).toBe(
      'unknown-outcome',
    );
  });

  it('`never` says that it is the policy', () => {
    const driver = new OperationDriver({ ...lost(1), policy: 'never' });
    expect(driver.context.unavailability).toBe('policy');
  });
});
