/** What a dial that failed says about the next one. */
import type { OpenFailure } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import { signInEvidence, signInFailure } from './authorization/sign-in-errors.ts';
import type { Dial } from './dial.ts';
import { classify } from './evidence/classify.ts';
import { type ErrorShape, shapeOf } from './evidence/error-shape.ts';
import { NO_CALL, type ProcessEnd } from './evidence/failure.ts';
import { isRefusedLocally } from './evidence/socket.ts';
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
const PERMANENT_CODES: readonly string[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'ENOEXEC'];
/** By which a shell says that it cannot execute the command, or does not find it. */
const PERMANENT_EXIT_CODES: readonly unknown[] = [126, 127];
/** To the handshake: an unknown method, invalid parameters, and at 2026-07-28 an unsupported version. */
const INCOMPATIBLE_RPC_CODES: readonly unknown[] = [-32601, -32602, -32022];
/** An invalid request; in a 400 a server says so of a second session as well. */
const INVALID_REQUEST = -32600;
/** SDK v2 could not agree on a version with the server, or did not come to that. */
const ERA_NEGOTIATION_FAILED = 'ERA_NEGOTIATION_FAILED';
/** What says that it did not: v2 takes a connection that closed for an answer, and has no other mark for it. */
const CLOSED_MEANWHILE = / closed during the server\/discover probe/;
/** What it takes for the answer of an older server as well, and may be otherwise in a moment. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429];
/** Both SDKs say so, in a plain error. */
const NO_COMMON_VERSION = "Server's protocol version is not supported: ";
const SECOND_SESSION_STATUSES: readonly number[] = [400, 409, 503];
const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

export function dialFailure(error: unknown, dial: Dial, monitor: WireMonitor): DialFailure {
  const shape = shapeOf(monitor.legacyStreamError ?? error);
  const { status = 0 } = shape;
  const { processEnd } = dial;
  const evidence = classify({
    ...NO_CALL,
    observed: settledByMonitor(error) ?? signInEvidence(error),
    error: shape,
    session: 'none',
    transportClosed: dial.closed,
    trust404: true,
  });
  const { execution } = evidence;
  // Nobody is dialled while a person signs in.
  const cause = evidence.cause === 'authorization-required' ? 'unauthorized' : evidence.cause;
  const redirected = REDIRECT_STATUSES.includes(status);
  const incompatible = isIncompatible(shape, monitor);
  return {
    error,
    cause: redirected ? 'redirected' : incompatible ? 'incompatible' : cause,
    permanent: redirected || incompatible || isPermanent(shape, cause, processEnd),
    retryAfterMs: Math.max(monitor.retryAfterMs, signInFailure(error)?.retryAfterMs ?? 0),
    process: processEnd,
    redirectTarget: redirected ? monitor.redirectTarget : undefined,
    isRefusal: status > 0 && !redirected && cause !== 'unauthorized',
    refusesSecondSession: SECOND_SESSION_STATUSES.includes(status),
    mayHaveBegun: execution === 'unknown' && (status === 0 || cause === 'gateway-error'),
  };
}

function isIncompatible(error: ErrorShape, { lastStatus }: WireMonitor): boolean {
  const { isRpc, code, message, body } = error;
  if (code === ERA_NEGOTIATION_FAILED) return isDecided(error) && !PASSING_STATUSES.includes(lastStatus);
  if (message.startsWith(NO_COMMON_VERSION) || (isRpc && code === INVALID_REQUEST)) return true;
  return INCOMPATIBLE_RPC_CODES.includes(isRpc ? code : body?.code);
}

/** By what the server answered: v2 gives a failure of the wire, and an answer that it cannot read, as the cause. */
function isDecided({ status, data, message }: ErrorShape): boolean {
  return status === undefined && data.cause === undefined && !CLOSED_MEANWHILE.test(message);
}

function isPermanent(error: ErrorShape, cause: Cause, end: ProcessEnd | undefined): boolean {
  if (cause === 'unauthorized' || isRefusedLocally(error)) return true;
  if (PERMANENT_EXIT_CODES.includes(end?.exitCode)) return true;
  // The server forgot the session in the middle of its handshake: the next one is a new session.
  if (cause === 'session-rejected') return false;
  if (error.status !== undefined) return PERMANENT_STATUSES.includes(error.status);
  return error.systemCodes.some(({ code }) => PERMANENT_CODES.includes(code));
}
