/** How each event is made to happen to a real actor. A new event does not compile until it has an executor. */
import type { ConnectionDriver } from '../machines/connection-driver.ts';
import { BUDGET } from '../machines/connection-driver.ts';
import {
  type ConnectionEventName,
  FAILURES,
  PROBE_OUTCOMES,
  SENT_EVENTS,
  type SentEventName,
} from './connection-fixtures.ts';
import type { ConnectionOracle } from './connection-oracle.ts';

/** Returns false where it cannot even be tried: an actor that never ran cannot end, a delay that does not run cannot pass. */
export type Executor = (driver: ConnectionDriver, oracle: ConnectionOracle) => Promise<boolean> | boolean;

const ended =
  (
    actor: 'retires' | 'opens' | 'probes' | 'shutdowns',
    end: (driver: ConnectionDriver) => Promise<unknown>,
  ): Executor =>
  async (driver) => {
    if (driver[actor].length === 0) return false;
    await end(driver);
    return true;
  };

const passed =
  (ms: (oracle: ConnectionOracle) => number): Executor =>
  (driver, oracle) =>
    driver.clock.fire(ms(oracle));

const sent = Object.fromEntries(
  Object.entries(SENT_EVENTS).map(([name, make]): [string, Executor] => [
    name,
    (driver, { generation }) => {
      // The generation that a report names is counted outside, not taken from the machine.
      driver.send(make({ ...driver.context, generation }));
      return true;
    },
  ]),
) as Record<SentEventName, Executor>;

const probed = Object.fromEntries(
  Object.entries(PROBE_OUTCOMES).map(([name, outcome]) => [
    name,
    ended('probes', (driver) => driver.probed(outcome)),
  ]),
) as Record<keyof typeof PROBE_OUTCOMES, Executor>;

const retiringFails = (name: 'retiring failed' | 'retiring failed for good') =>
  ended('retires', (driver) => driver.retireFailed(FAILURES[name]));
const openFails = (name: Extract<keyof typeof FAILURES, `open${string}`>) =>
  ended('opens', (driver) => driver.openFailed(FAILURES[name]));

export const EXECUTORS: Readonly<Record<ConnectionEventName, Executor>> = {
  ...sent,
  ...probed,
  'probe could not be sent': ended('probes', (driver) => driver.probeFailed()),
  retired: ended('retires', (driver) => driver.retired()),
  'retiring failed': retiringFails('retiring failed'),
  'retiring failed for good': retiringFails('retiring failed for good'),
  opened: ended('opens', (driver) => driver.opened()),
  'open failed': openFails('open failed'),
  'open failed, and the server asks to wait': openFails('open failed, and the server asks to wait'),
  'open failed, and the server asks for too long a wait': openFails(
    'open failed, and the server asks for too long a wait',
  ),
  'open failed, unauthorized': openFails('open failed, unauthorized'),
  'open failed for good': openFails('open failed for good'),
  'shut down': ended('shutdowns', (driver) => driver.shutDown()),
  'shutdown failed': ended('shutdowns', (driver) => driver.shutDown('reject')),
  'after backoff': passed((oracle) => oracle.backoffMs),
  'after window': passed(() => BUDGET.windowMs),
  'after firstReady': passed(() => BUDGET.firstReadyMs),
  'after stable': passed(() => BUDGET.stableMs),
  'after coolDown': passed((oracle) => oracle.coolDownMs),
  'after probeDistance': passed((oracle) => oracle.probeDistanceMs),
  'after nextAttempt': passed((oracle) => oracle.nextAttemptMs),
};
