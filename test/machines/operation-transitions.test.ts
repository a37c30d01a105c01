// Every transition of the operation machine, written by hand after the table in its head: what is not listed for a
// state is illegal there and must change nothing. Invariants 4 (one deadline) and 5 (one final state) are below.
import { describe, expect, it } from 'vitest';
import { operationMachine } from '../../machines/operation.machine.ts';
import { leafStates } from '../support/machine-names.ts';
import { LOST_UNKNOWN, LOST_UNRUN, NO_LOSS, OperationDriver } from './operation-driver.ts';

type Step = (driver: OperationDriver) => OperationDriver;

const EVENTS: Record<string, Step> = {
  usable: (d) => d.send({ type: 'usable' }),
  lost: (d) => d.send({ type: 'lost' }),
  'unavailable (budget)': (d) => d.send({ type: 'unavailable', why: 'budget-spent' }),
  'unavailable (closed)': (d) => d.send({ type: 'unavailable', why: 'closed' }),
  refused: (d) => d.send({ type: 'refused' }),
  abort: (d) => d.send({ type: 'abort' }),
  deadline: (d) => d.send({ type: 'deadline' }),
  answered: (d) => d.send({ type: 'answered' }),
  'failed: no loss': (d) => d.send({ type: 'failed', evidence: NO_LOSS }),
  'failed: lost, unrun': (d) => d.send({ type: 'failed', evidence: LOST_UNRUN }),
  'failed: lost, unknown': (d) => d.send({ type: 'failed', evidence: LOST_UNKNOWN }),
};

const AWAITING = {
  usable: 'sending',
  'unavailable (budget)': 'unavailable',
  'unavailable (closed)': 'unavailable',
  refused: 'refused',
  abort: 'cancelled',
  deadline: 'timed-out',
};

const PLACES: Record<string, { state: string; reach: () => OperationDriver; legal: Record<string, string> }> =
  {
    'confirming, owned, unrun': {
      state: 'confirming',
      reach: () =>
        new OperationDriver({
          sends: 1,
          evidence: { connection: 'suspect', execution: 'none', cause: 'session-rejected' },
        }),
      legal: { usable: 'passed-through', lost: 'awaiting', abort: 'cancelled', deadline: 'passed-through' },
    },
    'confirming, owned, unknown': {
      state: 'confirming',
      reach: () =>
        new OperationDriver({
          sends: 1,
          evidence: { connection: 'suspect', execution: 'unknown', cause: 'session-error' },
        }),
      legal: {
        usable: 'passed-through',
        lost: 'unknown-outcome',
        abort: 'cancelled',
        deadline: 'passed-through',
      },
    },
    'confirming, caller-owned': {
      state: 'confirming',
      reach: () =>
        new OperationDriver({
          ownership: 'caller-client',
          policy: 'safe',
          sends: 1,
          evidence: { connection: 'suspect', execution: 'none', cause: 'unreachable' },
        }),
      legal: { usable: 'passed-through', lost: 'refused', abort: 'cancelled', deadline: 'passed-through' },
    },
    'awaiting, never sent': { state: 'awaiting', reach: () => new OperationDriver(), legal: AWAITING },
    'awaiting, sent once': {
      state: 'awaiting',
      reach: () => new OperationDriver({ sends: 1, evidence: LOST_UNRUN }),
      legal: AWAITING,
    },
    'sending for the first time': {
      state: 'sending',
      reach: () => new OperationDriver().send({ type: 'usable' }),
      legal: {
        answered: 'answered',
        'failed: no loss': 'passed-through',
        'failed: lost, unrun': 'awaiting',
        'failed: lost, unknown': 'unknown-outcome',
        abort: 'cancelled',
        deadline: 'sending', // noted: the SDK's own timer keeps it
      },
    },
    'sending for the second time': {
      state: 'sending',
      reach: () => new OperationDriver({ sends: 1, evidence: LOST_UNRUN }).send({ type: 'usable' }),
      legal: {
        answered: 'answered',
        'failed: no loss': 'passed-through',
        'failed: lost, unrun': 'unavailable',
        'failed: lost, unknown': 'unknown-outcome',
        abort: 'cancelled',
        deadline: 'sending',
      },
    },
    answered: {
      state: 'answered',
      reach: () => new OperationDriver().send({ type: 'usable' }).send({ type: 'answered' }),
      legal: {},
    },
    'passed-through': {
      state: 'passed-through',
      reach: () => new OperationDriver({ sends: 1, evidence: NO_LOSS }),
      legal: {},
    },
    refused: { state: 'refused', reach: () => new OperationDriver().send({ type: 'refused' }), legal: {} },
    'unknown-outcome': {
      state: 'unknown-outcome',
      reach: () => new OperationDriver({ sends: 1, evidence: LOST_UNKNOWN }),
      legal: {},
    },
    unavailable: {
      state: 'unavailable',
      reach: () => new OperationDriver().send({ type: 'unavailable', why: 'closed' }),
      legal: {},
    },
    cancelled: { state: 'cancelled', reach: () => new OperationDriver().send({ type: 'abort' }), legal: {} },
    'timed-out': {
      state: 'timed-out',
      reach: () => new OperationDriver().send({ type: 'deadline' }),
      legal: {},
    },
  };

describe.each(Object.entries(PLACES))('%s', (_place, { state, reach, legal }) => {
  it('is reached', () => {
    expect(reach().state).toBe(state);
    expect(Object.keys(legal).filter((event) => !(event in EVENTS))).toEqual([]);
  });

  it.each(Object.entries(legal))('%s → %s', (event, target) => {
    const driver = reach();
    EVENTS[event]?.(driver);
    expect(driver.state).toBe(target);
  });

  it('ignores everything else', () => {
    for (const [event, step] of Object.entries(EVENTS)) {
      if (event in legal) continue;
      const driver = reach();
      const before = driver.trace;
      step(driver);
      expect(driver.trace, event).toBe(before);
    }
  });
});

it('every state of the machine has a place in this table, or is left at once', () => {
  const places = new Set(Object.values(PLACES).map(({ state }) => state));
  expect([...places, 'judging'].sort()).toEqual(leafStates(operationMachine).sort());
});

describe('4: one deadline covers waiting and every send', () => {
  it('passes while a send runs: the send is not cut, and its answer still counts', () => {
    const driver = new OperationDriver().send({ type: 'usable' }).send({ type: 'deadline' });
    expect(driver.send({ type: 'answered' }).state).toBe('answered');
  });

  it('passed while a send ran: when that send is lost, it is not sent again', () => {
    const driver = new OperationDriver().send({ type: 'usable' }).send({ type: 'deadline' });
    driver.send({ type: 'failed', evidence: LOST_UNRUN });
    expect(driver.state).toBe('timed-out');
    expect(driver.sends).toBe(1);
  });
});

describe('5: an end is an end', () => {
  it('an abort while a send runs ends it, and its late result changes nothing', () => {
    const driver = new OperationDriver().send({ type: 'usable' }).send({ type: 'abort' });
    expect(driver.isOver).toBe(true);
    expect(driver.send({ type: 'answered' }).state).toBe('cancelled');
  });

  it('why it was unavailable is kept', () => {
    for (const why of ['budget-spent', 'closed'] as const) {
      expect(new OperationDriver().send({ type: 'unavailable', why }).context.unavailability).toBe(why);
    }
  });
});
