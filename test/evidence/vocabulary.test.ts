// The words of machines/vocabulary.ts and its two rules, by hand after the design: what may be sent again, and
// which operation lost its answer.
import { describe, expect, it } from 'vitest';
import {
  CAUSES,
  type Cause,
  type DemandedOperation,
  type Evidence,
  isEvidence,
  isStricken,
  mayBeSent,
  type Ownership,
  type ReplayPolicy,
} from '../../machines/vocabulary.ts';

/** Does an operation that failed so, on a connection that is only in doubt, count as stricken before a probe? */
const STRIKES_BEFORE_PROOF: Record<Cause, boolean> = {
  'session-unknown': true, // in doubt where the host's own code may have said it of another
  'session-rejected': true,
  'session-error': true,
  unreachable: true,
  'not-connected': true, // in doubt where the transport is not to be seen
  unwritten: false,
  'connection-closed': true,
  'stream-ended': false,
  'request-cut': true,
  'answer-lost': true,
  timeout: false, // the server may be slow, and the caller asked for this end
  heartbeat: false,
  'host-slept': false,
  deaf: false,
  aborted: false,
  unauthorized: false,
  'authorization-required': false,
  'authorization-unavailable': false,
  'http-refused': true, // in doubt without a session: a probe tells
  'http-error': false,
  'gateway-error': false,
  'version-changed': true, // in doubt where the host's own code may have said it of another
  incompatible: false,
  redirected: false,
  'malformed-answer': false,
  'rpc-error': false,
  unsupported: false,
  unrecognised: false,
  replaced: false,
  requested: false,
  'not-ended': false,
  closed: false,
};
/** A gateway failed before a connection of ours: nothing is wrong with the connection, and the answer is lost. */
const STRIKES_A_USABLE_ONE_OF_OURS: readonly Cause[] = ['gateway-error'];

const OWNERSHIPS: readonly Ownership[] = ['supervisor', 'caller-client', 'caller-session'];
const EACH_CAUSE = Object.entries(STRIKES_BEFORE_PROOF) as [Cause, boolean][];

it('the causes are these', () => {
  expect([...CAUSES].sort()).toEqual(Object.keys(STRIKES_BEFORE_PROOF).sort());
});

describe.each(EACH_CAUSE)('%s', (cause, strikes) => {
  it.each(['none', 'unknown', 'answered'] as const)('execution %s', (execution) => {
    for (const ownership of OWNERSHIPS) {
      expect(isStricken({ connection: 'lost', execution, cause }, ownership)).toBe(true);
      expect(isStricken({ connection: 'suspect', execution, cause }, ownership)).toBe(strikes);
      const usable = ownership === 'supervisor' && STRIKES_A_USABLE_ONE_OF_OURS.includes(cause);
      expect(isStricken({ connection: 'usable', execution, cause }, ownership)).toBe(usable);
    }
  });
});

/** Never sent, proven unrun, or declared harmless to repeat; `answered` is an end, and `never` is never again. */
const MAY_BE_SENT: Record<ReplayPolicy, Record<DemandedOperation['execution'], boolean>> = {
  safe: { unsent: true, none: true, unknown: true, answered: false },
  'if-unsent': { unsent: true, none: true, unknown: false, answered: false },
  never: { unsent: true, none: false, unknown: false, answered: false },
};

it.each(
  Object.entries(MAY_BE_SENT).flatMap(([policy, row]) =>
    Object.entries(row).map(
      ([execution, may]) =>
        [policy as ReplayPolicy, execution as DemandedOperation['execution'], may] as const,
    ),
  ),
)('%s, execution %s: may be sent: %s', (policy, execution, may) => {
  expect(mayBeSent({ kind: 'tool', policy, execution })).toBe(may);
});

describe('evidence that a host’s own rule returned', () => {
  const GOOD: Evidence = { connection: 'suspect', execution: 'unknown', cause: 'request-cut' };

  it('is evidence with every word of the vocabulary', () => {
    for (const connection of ['usable', 'suspect', 'lost'])
      expect(isEvidence({ ...GOOD, connection })).toBe(true);
    for (const execution of ['none', 'unknown', 'answered']) {
      expect(isEvidence({ ...GOOD, execution })).toBe(true);
    }
    for (const [cause] of EACH_CAUSE) expect(isEvidence({ ...GOOD, cause })).toBe(true);
  });

  it.each(['connection', 'execution', 'cause'] as const)('is none with another word for %s', (field) => {
    for (const word of ['', 'fine', 'Lost', undefined, null, 0, {}, ['lost']]) {
      expect(isEvidence({ ...GOOD, [field]: word }), String(word)).toBe(false);
    }
    const { [field]: _left, ...rest } = GOOD;
    expect(isEvidence(rest), 'left out').toBe(false);
  });

  it('is none if the words are in the wrong places', () => {
    expect(isEvidence({ connection: 'none', execution: 'lost', cause: 'request-cut' })).toBe(false);
    expect(isEvidence({ connection: 'request-cut', execution: 'unknown', cause: 'suspect' })).toBe(false);
  });

  it.each([[undefined], [null], ['lost'], [0], [true], [{}], [[]], [() => GOOD]])('%o is none', (value) => {
    expect(isEvidence(value)).toBe(false);
  });
});
