/** Each rule of the soak's oracle, with what breaks it and what comes close. */
import { describe, expect, it } from 'vitest';
import { judge } from '../../soak/oracle.ts';
import { planOf } from '../../soak/plan.ts';
import type { CallRecord, FaultRecord, JournalLine } from '../../soak/records.ts';
import { judgeSessions } from '../../soak/sessions.ts';
import { Watch } from '../../soak/watch.ts';

const CALL: CallRecord = {
  id: 'a-1',
  kind: 'append',
  connection: 'sse-direct#1',
  site: 'sse',
  startedAt: 1_000,
  settledAt: 1_100,
  dueAt: 21_000,
  lateMs: 0,
  waited: false,
};
const RUN: JournalLine = { event: 'run', at: 1_050, pid: 7, id: 'a-1' };
const BEGIN: JournalLine = { ...RUN, event: 'begin' };
const KILLED: FaultRecord = {
  site: 'sse',
  fault: { kind: 'kill', downMs: 0 },
  from: 1_060,
  to: 1_070,
  pid: 7,
};
const NOTHING = { calls: [], unsettled: [], journals: new Map(), faults: [], recreated: new Map() };

function rulesBroken(call: Partial<CallRecord>, lines: JournalLine[], faults: FaultRecord[] = []): string[] {
  const calls = [{ ...CALL, ...call }];
  return judge({ ...NOTHING, calls, journals: new Map([['sse', lines]]), faults }).map(({ rule }) => rule);
}

const unavailable = {
  label: 'ConnectionUnavailableError unavailable deadline',
  message: 'tools/call was not sent.',
};
const unknown = {
  label: 'OutcomeUnknownError outcome-unknown',
  message: 'It may have run.',
  execution: 'unknown',
};

describe('a call', () => {
  it.each<[string, string[], Partial<CallRecord>, JournalLine[], FaultRecord[]?]>([
    ['ran once and was answered', [], { answer: 'a-1' }, [BEGIN, RUN]],
    ['ran twice', ['ran twice'], { answer: 'a-1' }, [BEGIN, RUN, BEGIN, RUN]],
    ['ran twice, and that is harmless', [], { kind: 'search', answer: 'a-1' }, [RUN, RUN]],
    ['ran three times', ['safe call ran more than twice'], { kind: 'read', answer: 'a-1' }, [RUN, RUN, RUN]],
    ['was answered by nobody', ['success without an execution'], { answer: 'a-1' }, []],
    ['was answered, and is not written down', [], { kind: 'ping', answer: '' }, []],
    ['got what another asked for', ['answer of another call'], { answer: 'a-2' }, [RUN]],
    ['may have run, and did', [], { error: unknown }, [BEGIN, RUN]],
    ['was not sent', [], { error: unavailable }, []],
    ['was not sent, and began', ['said not to have run, and ran'], { error: unavailable }, [BEGIN]],
    [
      'had not run by the evidence, and ran',
      ['said not to have run, and ran'],
      { error: { ...unknown, execution: 'none' } },
      [BEGIN, RUN],
    ],
    ['came late', ['settled after its deadline'], { answer: 'a-1', settledAt: 22_001 }, [RUN]],
    ['came late, as the soak itself', [], { answer: 'a-1', settledAt: 22_001, lateMs: 1 }, [RUN]],
    ['knew of a death at once', [], { error: unknown, settledAt: 1_500 }, [BEGIN, RUN], [KILLED]],
    [
      'outlived its server',
      ['hung after its server had died'],
      { error: unknown, settledAt: 4_100 },
      [BEGIN],
      [KILLED],
    ],
  ])('that %s: %j', (_what, rules, call, lines, faults) => {
    expect(rulesBroken(call, lines, faults)).toEqual(rules);
  });

  it('that has not settled', () => {
    expect(judge({ ...NOTHING, unsettled: [CALL] }).map(({ rule }) => rule)).toEqual(['never settled']);
  });
});

describe('what a connection says of itself', () => {
  it.each([
    [[], 1],
    [['recreated without a handshake'], 2],
  ])('%j', (rules, generation) => {
    const line: JournalLine = { event: 'initialize', at: 0, pid: 7, connection: 'c#1' };
    const evidence = {
      ...NOTHING,
      journals: new Map([['sse', [line]]]),
      recreated: new Map([['c#1', generation]]),
    };
    expect(judge(evidence).map(({ rule }) => rule)).toEqual(rules);
  });

  it.each([
    [
      0,
      [
        ['connecting', 'ready'],
        ['ready', 'lost'],
        ['lost', 'recreating'],
        ['recreating', 'ready'],
      ],
    ],
    // No such edge of an owned connection.
    [1, [['ready', 'connecting']]],
    [
      1,
      [
        ['connecting', 'ready'],
        ['ready', 'failed-ownership'],
      ],
    ],
    // A step is missing.
    [
      1,
      [
        ['connecting', 'ready'],
        ['lost', 'recreating'],
      ],
    ],
  ] as const)('%i illegal in %j', (count, steps) => {
    const watch = new Watch();
    for (const [from, to] of steps) watch.transition('c#1', from, to);
    expect(watch.violations).toHaveLength(count);
  });
});

describe('a session that lives on', () => {
  const first: JournalLine = {
    event: 'initialized',
    at: 10_000,
    pid: 7,
    connection: 'sse-proxied-1#1',
    session: 's1',
  };
  const second: JournalLine = { ...first, at: 20_000, session: 's2' };
  const reset: FaultRecord = {
    site: 'sse',
    fault: { kind: 'reset', share: 1, quietly: false },
    from: 19_000,
    to: 19_000,
  };
  const direct = (line: JournalLine) => ({ ...line, connection: 'sse-direct#1' });

  it.each<[string, number, number, string[], JournalLine[], FaultRecord[]]>([
    ['at the end', 1, 0, ['s2'], [first, second], [reset]],
    ['without a fault', 1, 0, ['s1'], [first, second], []],
    ['where a fault may have kept the DELETE', 0, 1, ['s1'], [first, second], [reset]],
    ['where no fault could', 1, 0, ['s1'], [direct(first), direct(second)], [reset]],
    ['that no client knew of', 0, 0, ['s3'], [first, second], []],
  ])('%s', (_when, violations, orphaned, living, lines, faults) => {
    const left = judgeSessions(living, lines, faults);
    expect([left.violations.length, left.orphaned]).toEqual([violations, orphaned]);
  });
});

it('the plan is a function of the seed', () => {
  const steps = (seed: number) => {
    const plan = planOf(seed, 'wire', { name: 'sse', overHttp: true, slots: 3 });
    return Array.from({ length: 50 }, () => plan.next().value);
  };
  expect(steps(1)).toEqual(steps(1));
  expect(steps(1)).not.toEqual(steps(2));
});
