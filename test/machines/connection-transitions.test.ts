// Every transition of the connection machine, written by hand after the table in its head: what is not listed for
// a state is illegal there, and must change nothing and start nothing.
//
// Invariants checked here, by their number in machines/connection.machine.ts: 1, 2 (in connection-lost.test.ts),
// 3 (stale reports), 6 (the generation in each row), 7 (which suspicions start a probe), 8 (after close).
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { leafStates } from '../support/machine-names.ts';
import { ConnectionDriver, PERMANENT, RETRYABLE } from './connection-driver.ts';

type Step = (driver: ConnectionDriver) => unknown;

/** Each event that the machine can meet; a promise's end and the passing of time are events too. */
const EVENTS: Record<string, Step> = {
  demand: (d) => d.send({ type: 'demand' }),
  reconnect: (d) => d.send({ type: 'reconnect' }),
  lost: (d) => d.lose(),
  'lost, of the generation before': (d) => {
    const generation = d.context.generation - 1;
    d.send({ type: 'lost', generation, cause: 'connection-closed', stricken: null });
  },
  'lost, of a generation to come': (d) => {
    const generation = d.context.generation + 1;
    d.send({ type: 'lost', generation, cause: 'connection-closed', stricken: null });
  },
  'suspected, deaf': (d) => d.suspect({ cause: 'deaf' }),
  'suspected, deaf while busy': (d) => d.suspect({ cause: 'deaf', busy: true }),
  'suspected, timeout': (d) => d.suspect({ cause: 'timeout' }),
  'suspected, timeout while busy': (d) => d.suspect({ cause: 'timeout', busy: true }),
  'suspected, heartbeat while busy': (d) => d.suspect({ cause: 'heartbeat', busy: true }),
  'suspected, of the generation before': (d) => d.suspect({ generation: d.context.generation - 1 }),
  replaced: (d) => d.send({ type: 'replaced' }),
  verified: (d) => d.send({ type: 'verified' }),
  unverified: (d) => d.send({ type: 'unverified' }),
  close: (d) => d.send({ type: 'close' }),
};

const SETTLEMENTS: Record<string, Step> = {
  opened: (d) => d.opened(),
  'open failed': (d) => d.openFailed(RETRYABLE),
  'open failed for good': (d) => d.openFailed(PERMANENT),
  'probe answered': (d) => d.probed({ verdict: 'usable', cause: 'deaf' }),
  'probe unanswered': (d) => d.probed({ verdict: 'unanswered', cause: 'deaf' }),
  'probe unanswered while busy': (d) => d.probed({ verdict: 'busy', cause: 'deaf' }),
  'probe lost': (d) => d.probed({ verdict: 'lost', cause: 'session-unknown' }),
  'shut down': (d) => d.shutDown(),
  'shutdown failed': (d) => d.shutDown('reject'),
  'after backoff': (d) => d.pass(100),
  'after window': (d) => d.pass(60_000),
  'after stable': (d) => d.pass(5_000),
  'after coolDown': (d) => d.pass(10_000),
};

interface Place {
  ownership: 'own' | 'lent';
  state: string;
  generation: number;
  /** How to get there. */
  reach: (options?: { maxAttempts?: number }) => ConnectionDriver | Promise<ConnectionDriver>;
  /** Everything that is legal here, and the state that it leads to. */
  legal: Record<string, string>;
}

const owned = (input = {}) => new ConnectionDriver(input);
const ready = async () => owned().opened();
const lent = () => new ConnectionDriver({ ownership: 'caller-client' });
const lentReady = () => lent().send({ type: 'verified' });

/** Attempts are given back then: connection-budget.test.ts. The other durations are longer than `stable`. */
const STABLE = {
  'after stable': 'ready.steady',
  'after coolDown': 'ready.steady',
  'after window': 'ready.steady',
};
const SUSPICIONS = {
  'suspected, deaf': 'ready.probing',
  'suspected, deaf while busy': 'ready.probing',
  'suspected, timeout': 'ready.probing',
};
const PROBE_OUTCOMES = {
  demand: 'ready.probing', // noted: connection-budget.test.ts
  'probe answered': 'ready.steady',
  'probe unanswered while busy': 'ready.steady',
};

const PLACES: Record<string, Place> = {
  'own idle (lazy)': {
    ownership: 'own',
    state: 'idle',
    generation: 0,
    reach: () => owned({ lazy: true }),
    legal: { demand: 'connecting.opening', reconnect: 'connecting.opening', close: 'closing' },
  },
  'own connecting': {
    ownership: 'own',
    state: 'connecting.opening',
    generation: 0,
    reach: () => owned(),
    legal: {
      opened: 'ready.steady',
      'open failed': 'recreating.backingOff',
      'open failed for good': 'exhausted.cooling',
      close: 'closing',
    },
  },
  'own connecting, the last attempt': {
    ownership: 'own',
    state: 'connecting.opening',
    generation: 0,
    reach: () => owned({ maxAttempts: 1 }),
    legal: {
      opened: 'ready.steady',
      'open failed': 'exhausted.cooling',
      'open failed for good': 'exhausted.cooling',
      close: 'closing',
    },
  },
  'own ready': {
    ownership: 'own',
    state: 'ready.steady',
    generation: 1,
    reach: ready,
    legal: { ...STABLE, ...SUSPICIONS, lost: 'lost', reconnect: 'recreating.opening', close: 'closing' },
  },
  'own ready, probing': {
    ownership: 'own',
    state: 'ready.probing',
    generation: 1,
    reach: async () => (await ready()).suspect(),
    legal: {
      ...PROBE_OUTCOMES,
      'after stable': 'ready.probing',
      'after coolDown': 'ready.probing',
      'after window': 'ready.probing',
      'probe unanswered': 'lost',
      'probe lost': 'lost',
      lost: 'lost',
      reconnect: 'recreating.opening',
      close: 'closing',
    },
  },
  'own lost, at rest': {
    ownership: 'own',
    state: 'lost',
    generation: 1,
    reach: async () => (await ready()).lose(),
    legal: { demand: 'recreating.backingOff', reconnect: 'recreating.opening', close: 'closing' },
  },
  'own lost, budget spent': {
    ownership: 'own',
    state: 'lost',
    generation: 1,
    reach: async () => (await owned({ maxAttempts: 1 }).opened()).lose(),
    legal: { demand: 'exhausted.cooling', reconnect: 'recreating.opening', close: 'closing' },
  },
  'own recreating, backing off': {
    ownership: 'own',
    state: 'recreating.backingOff',
    generation: 1,
    reach: async () => (await ready()).lose().send({ type: 'demand' }),
    legal: {
      'after backoff': 'recreating.opening',
      'after stable': 'recreating.opening', // longer than the backoff
      'after coolDown': 'recreating.opening',
      'after window': 'exhausted.cooling',
      reconnect: 'recreating.opening',
      close: 'closing',
    },
  },
  'own recreating, opening': {
    ownership: 'own',
    state: 'recreating.opening',
    generation: 1,
    reach: async () => (await ready()).lose().send({ type: 'demand' }).pass(100),
    legal: {
      opened: 'ready.steady',
      'open failed': 'recreating.backingOff',
      'open failed for good': 'exhausted.cooling',
      'after window': 'exhausted.cooling',
      close: 'closing',
    },
  },
  'own exhausted, cooling': {
    ownership: 'own',
    state: 'exhausted.cooling',
    generation: 0,
    reach: () => owned().openFailed(PERMANENT),
    legal: {
      'after coolDown': 'exhausted.cooled',
      'after window': 'exhausted.cooled', // 60 s are more than the cool-down
      reconnect: 'recreating.opening',
      close: 'closing',
    },
  },
  'own exhausted, cooled': {
    ownership: 'own',
    state: 'exhausted.cooled',
    generation: 0,
    reach: async () => (await owned().openFailed(PERMANENT)).pass(10_000),
    legal: { demand: 'recreating.opening', reconnect: 'recreating.opening', close: 'closing' },
  },
  'own closing': {
    ownership: 'own',
    state: 'closing',
    generation: 1,
    reach: async () => (await ready()).send({ type: 'close' }),
    legal: { 'shut down': 'closed', 'shutdown failed': 'closed' },
  },
  'own closed': {
    ownership: 'own',
    state: 'closed',
    generation: 1,
    reach: async () => (await ready()).send({ type: 'close' }).shutDown(),
    legal: {},
  },

  'lent connecting': {
    ownership: 'lent',
    state: 'connecting.checking',
    generation: 0,
    reach: lent,
    legal: { verified: 'ready.steady', unverified: 'failed-ownership', close: 'closing' },
  },
  'lent ready': {
    ownership: 'lent',
    state: 'ready.steady',
    generation: 1,
    reach: lentReady,
    legal: { ...SUSPICIONS, lost: 'failed-ownership', replaced: 'connecting.checking', close: 'closing' },
  },
  'lent ready, probing': {
    ownership: 'lent',
    state: 'ready.probing',
    generation: 1,
    reach: () => lentReady().suspect(),
    legal: {
      ...PROBE_OUTCOMES,
      'probe unanswered': 'failed-ownership',
      'probe lost': 'failed-ownership',
      lost: 'failed-ownership',
      replaced: 'connecting.checking',
      close: 'closing',
    },
  },
  'lent failed-ownership': {
    ownership: 'lent',
    state: 'failed-ownership',
    generation: 1,
    reach: () => lentReady().lose(),
    legal: { replaced: 'connecting.checking', close: 'closing' },
  },
  'lent closing': {
    ownership: 'lent',
    state: 'closing',
    generation: 1,
    reach: () => lentReady().send({ type: 'close' }),
    legal: { 'shut down': 'closed', 'shutdown failed': 'closed' },
  },
  'lent closed': {
    ownership: 'lent',
    state: 'closed',
    generation: 1,
    reach: () => lentReady().send({ type: 'close' }).shutDown(),
    legal: {},
  },
};

/** An actor that was never started cannot settle. */
function canHappen(driver: ConnectionDriver, event: string): boolean {
  if (event.startsWith('open')) return driver.opens.length > 0;
  if (event.startsWith('probe')) return driver.probes.length > 0;
  if (event.startsWith('shut')) return driver.shutdowns.length > 0;
  return true;
}

const ALL_EVENTS = { ...EVENTS, ...SETTLEMENTS };

describe.each(Object.entries(PLACES))('%s', (_place, { ownership, state, generation, reach, legal }) => {
  it('is reached', async () => {
    const driver = await reach();
    expect(driver.state).toBe(state);
    expect(driver.context.generation).toBe(generation);
    expect(Object.keys(legal).filter((event) => !(event in ALL_EVENTS))).toEqual([]);
  });

  it.each(Object.entries(legal))('%s → %s', async (event, target) => {
    const driver = await reach();
    expect(canHappen(driver, event)).toBe(true);
    await ALL_EVENTS[event]?.(driver);
    expect(driver.state).toBe(target);
    const finished = event === 'opened' || event === 'verified' ? 1 : 0;
    expect(driver.context.generation, 'grows with a handshake only').toBe(generation + finished);
    if (ownership === 'lent') expect(driver.opens, 'nothing of a caller is opened').toEqual([]);
  });

  it('ignores everything else: nothing changes, nothing is started', async () => {
    for (const [event, step] of Object.entries(ALL_EVENTS)) {
      if (event in legal) continue;
      const driver = await reach();
      if (!canHappen(driver, event)) continue;
      const before = driver.trace;
      const snapshot = driver.actor.getSnapshot();
      await step(driver);
      expect(driver.trace, event).toBe(before);
      if (event in EVENTS) expect(driver.actor.getSnapshot(), event).toBe(snapshot);
    }
  });
});

it('every state of the machine has a place in this table', () => {
  const places = new Set(Object.values(PLACES).map(({ state }) => state));
  expect([...places].sort()).toEqual(leafStates(connectionMachine).sort());
});
