/**
 * How each event is made to happen to a real actor (it is sent, so that what has a fixture has an executor), and how
 * each end is seen by the caller: a new one does not compile until it has an assertion.
 */
import {
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  OutcomeUnknownError,
} from '../../src/errors.ts';
import type { OperationDriver } from '../machines/operation-driver.ts';
import { ABORTED, ANSWER, SDK_ERROR } from './operation-ends.ts';
import { OPERATION_EVENTS, type OperationEventName } from './operation-fixtures.ts';
import type { OperationOracle } from './operation-oracle.ts';
import type { CallerGets } from './operation-table.ts';

export const EXECUTORS = Object.fromEntries(
  Object.entries(OPERATION_EVENTS).map(([name, event]) => [
    name,
    (driver: OperationDriver) => void driver.send(event),
  ]),
) as Record<OperationEventName, (driver: OperationDriver) => void>;

/** One of our own errors also says whether the operation was sent, and whether it may have run. */
const truthful =
  (error: new (...facts: never[]) => Error) =>
  (got: unknown, { whatRan }: OperationOracle): boolean =>
    got instanceof error && got.message.includes(whatRan);

export const ASSERTIONS: Readonly<Record<CallerGets, (got: unknown, oracle: OperationOracle) => boolean>> = {
  'the answer': (got) => got === ANSWER,
  "the SDK's own error, untouched": (got) => got === SDK_ERROR,
  "its own abort, in the raw SDK's shape": (got) => got === ABORTED,
  CallerOwnedConnectionLostError: truthful(CallerOwnedConnectionLostError),
  OutcomeUnknownError: (got) => got instanceof OutcomeUnknownError,
  ConnectionUnavailableError: truthful(ConnectionUnavailableError),
  ConnectionClosedError: truthful(ConnectionClosedError),
};
