/** What a dial that failed says about the next one. */
import type { OpenFailure } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { Dial } from './dial.ts';
import { classify } from './evidence/classify.ts';
import { type ErrorShape, shapeOf } from './evidence/error-shape.ts';
import { NO_CALL, type ProcessEnd } from './evidence/failure.ts';
import { settledByMonitor } from './transports/answer-lost.ts';
import type { WireMonitor } from './transports/wire-monitor.ts';

export interface DialFailure extends OpenFailure {
  readonly error: unknown;
  readonly process?: ProcessEnd | undefined;
  /** Where the server redirects to, without query. */
  readonly redirectTarget?: string | undefined;
  /** The server's answer, for no want of credentials. */
  readonly isRefusal?: boolean | undefined;
  /** The refusal may mean that the server still has a session of ours, and allows no second one. */
  readonly refusesSecondSession?: boolean | undefined;
  /** The server may have begun a session whose id did not reach us. */
  readonly mayHaveBegun?: boolean | undefined;
}

/** Dialling again changes nothing until credentials, the command or the address change. */
const PERMANENT_STATUSES: readonly number[] = [400, 401, 403, 405, 406, 415];
const PERMANENT_CODES: readonly string[] = ['ENOENT', 'EACCES'];
const SECOND_SESSION_STATUSES: readonly number[] = [400, 409, 503];
const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

export function dialFailure(error: unknown, dial: Dial, monitor: WireMonitor): DialFailure {
  const shape = shapeOf(error);
  const { status = 0 } = shape;
  const { cause, execution } = classify({
    ...NO_CALL,
    observed: settledByMonitor(error),
    error: shape,
    session: 'none',
    transportClosed: dial.closed,
    trust404: true,
  });
  const redirected = REDIRECT_STATUSES.includes(status);
  return {
    error,
    cause: redirected ? 'redirected' : cause,
    permanent: redirected || isPermanent(shape, cause),
    retryAfterMs: monitor.retryAfterMs,
    process: dial.processEnd,
    redirectTarget: redirected ? monitor.redirectTarget : undefined,
    isRefusal: status > 0 && !redirected && cause !== 'unauthorized',
    refusesSecondSession: SECOND_SESSION_STATUSES.includes(status),
    mayHaveBegun: execution === 'unknown' && (status === 0 || cause === 'gateway-error'),
  };
}

function isPermanent(error: ErrorShape, cause: Cause): boolean {
  if (cause === 'unauthorized') return true;
  // The server forgot the session in the middle of its handshake: the next one is a new session.
  if (cause === 'session-rejected') return false;
  if (error.status !== undefined) return PERMANENT_STATUSES.includes(error.status);
  return error.systemCodes.some(({ code }) => PERMANENT_CODES.includes(code));
}
