/**
 * The errors that the supervisor raises itself. Every other error reaches the caller exactly as the SDK threw it.
 * Messages are built from the words below and the connection's name, never from what a server or a caller said.
 */
import type { Cause, Evidence, OperationKind, Ownership } from '../machines/vocabulary.ts';
import { CAUSE_TEXT } from './cause-text.ts';
import type { ProcessEnd } from './evidence/failure.ts';

/** What is known about a failed operation. */
export interface OperationFailure extends Evidence {
  /** How the server's process ended, where it was a child of ours. */
  readonly process?: ProcessEnd | undefined;
}

export interface ErrorFacts {
  readonly connection: string;
  readonly ownership?: Ownership | undefined;
  readonly generation?: number | undefined;
  readonly operation?: { readonly method: string; readonly kind: OperationKind } | undefined;
  readonly evidence?: OperationFailure | undefined;
  readonly cause?: unknown;
}

export type SupervisorErrorCode =
  | 'ownership'
  | 'outcome-unknown'
  | 'unavailable'
  | 'closed'
  | 'not-connected'
  | 'authorization-callback'
  | 'invalid-options';

/** What all errors of this package have in common. */
export class SupervisorError extends Error {
  override readonly name: string = 'SupervisorError';
  readonly code: SupervisorErrorCode;
  /** The connection's name. */
  readonly connection: string;
  readonly ownership: Ownership | undefined;
  /** The generation that the operation was sent on, or that was current. */
  readonly generation: number | undefined;
  readonly operation: ErrorFacts['operation'];
  readonly evidence: OperationFailure | undefined;

  constructor(code: SupervisorErrorCode, message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.connection = facts.connection;
    this.ownership = facts.ownership;
    this.generation = facts.generation;
    this.operation = facts.operation;
    this.evidence = facts.evidence;
  }
}

function subject(facts: ErrorFacts): string {
  const details = [
    facts.ownership,
    facts.generation === undefined ? undefined : `generation ${facts.generation}`,
  ].filter((detail) => detail !== undefined);
  return `Connection "${facts.connection}"${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}

function because(cause: Cause | undefined): string {
  return cause === undefined ? '' : ` (${CAUSE_TEXT[cause]})`;
}

function whatRan(facts: ErrorFacts, sent: boolean): string {
  const method = facts.operation?.method ?? 'The operation';
  if (!sent) return `${method} was not sent.`;
  if (facts.evidence?.execution === 'none') return `${method} was not run by the server.`;
  return `${method} was sent, and the server may have run it.`;
}

/** Begins with a space, where there is something to say. */
export function processText(end: ProcessEnd | undefined): string {
  if (end === undefined) return '';
  if (end.signal !== null) return ` The server's process was ended by ${end.signal}.`;
  if (end.exitCode !== null) return ` The server's process exited with code ${end.exitCode}.`;
  return '';
}

/** A caller-owned connection is lost. It was neither reconnected nor replaced: that is the caller's to do. */
export class CallerOwnedConnectionLostError extends SupervisorError {
  override readonly name = 'CallerOwnedConnectionLostError';

  constructor(facts: ErrorFacts & { sent: boolean }) {
    const what = facts.ownership === 'caller-session' ? 'session' : 'client';
    super(
      'ownership',
      `${subject(facts)}: the connection that the caller supplied was lost${because(facts.evidence?.cause)}. ` +
        `It was neither reconnected nor replaced, because the caller owns it. ${whatRan(facts, facts.sent)} ` +
        `Create and connect a new ${what} and pass it to replace(), or build the wrapper anew.`,
      facts,
    );
  }
}

/** The server may have run the operation, and it is not sent again. */
export class OutcomeUnknownError extends SupervisorError {
  override readonly name = 'OutcomeUnknownError';

  constructor(facts: ErrorFacts) {
    super(
      'outcome-unknown',
      `${subject(facts)}: no answer to ${facts.operation?.method ?? 'the operation'} can come` +
        `${because(facts.evidence?.cause)}. The server may have run it, and it is not sent again.` +
        `${processText(facts.evidence?.process)} Find out what it did before you repeat it` +
        `${facts.operation?.kind === 'tool' ? "; if repeating this tool is harmless, declare it with replay: { tools: { <name>: 'safe' } }" : ''}.`,
      facts,
    );
  }
}

/** Why no usable connection could be had. */
export type UnavailableWhy =
  /** The time or the number of dials that `recovery` allows is spent. */
  | 'budget-spent'
  /** `maxWaiting` operations wait already. */
  | 'queue-full'
  /** `waitForReady` is false. */
  | 'not-waiting'
  /** The time that the caller allowed passed while it waited. */
  | 'deadline'
  /** Dialling again changes nothing until credentials, the command or the address change. */
  | 'permanent'
  /** The server asked to be left alone for longer than the recovery lasts, or than the caller allows. */
  | 'retry-after'
  /** No server is there, and none has ever been: refused, no such host, a process that exits. It is still tried. */
  | 'server-missing'
  /** It was lost again after the operation had been sent a second time. */
  | 'sends-spent'
  /** The policy of the operation is never to be sent again. */
  | 'policy';

/** What is so, and what to do about it. */
const UNAVAILABLE_TEXT: Readonly<Record<UnavailableWhy, string>> = {
  'budget-spent': 'A call after the cool-down tries once more; reconnect() tries at once.',
  'queue-full': 'it is not ready, and maxWaiting operations already wait. Call again later.',
  'not-waiting': 'it is not ready, and waitForReady is false. Call again when it is ready.',
  deadline: 'it did not become ready in the time allowed. Call again, or allow more time.',
  permanent: 'Mend what it says below; a call after the cool-down tries once, reconnect() at once.',
  'retry-after': 'The server asked to wait (Retry-After). A call after that time tries once more.',
  'server-missing':
    'No server was ever there: check its address or command. It goes on being tried; call again later.',
  'sends-spent': 'it was lost again after the operation had been sent a second time. Call again.',
  policy: "it was lost, and this operation's policy is never to be sent again. Call again if you mean it.",
};

const AFTER_DIALS: readonly UnavailableWhy[] = ['budget-spent', 'permanent', 'retry-after', 'server-missing'];

/** With an `authProvider` no cool-down leads out of it. */
const UNAUTHORIZED_TEXT = 'Mend what it says below, then call reconnect().';

function unavailableText({ why, dialFailed, lastCause }: UnavailableFacts): string {
  if (!AFTER_DIALS.includes(why)) return UNAVAILABLE_TEXT[why];
  const state = dialFailed ? 'it could not be made.' : 'it was lost too often.';
  const isUnauthorized = why === 'permanent' && lastCause === 'unauthorized';
  return `${state} ${isUnauthorized ? UNAUTHORIZED_TEXT : UNAVAILABLE_TEXT[why]}`;
}

/** What the connection's last dial came to, for those who could not have a connection. */
export interface UnavailableFacts extends ErrorFacts {
  readonly why: UnavailableWhy;
  readonly sent: boolean;
  readonly lastCause?: Cause | undefined;
  readonly dialFailed: boolean;
  /** Where the server redirects to, without query. */
  readonly redirectTarget?: string | undefined;
  /** What the server asked to wait, in milliseconds; 0 if nothing. */
  readonly retryAfterMs?: number | undefined;
}

/** No usable connection could be had for the operation. */
export class ConnectionUnavailableError extends SupervisorError {
  override readonly name = 'ConnectionUnavailableError';
  readonly why: UnavailableWhy;

  constructor(facts: UnavailableFacts) {
    const { why, lastCause, redirectTarget, retryAfterMs = 0, operation, evidence } = facts;
    const asked = retryAfterMs === 0 ? '' : ` It asked to wait for ${Math.ceil(retryAfterMs / 1_000)} s.`;
    const where = redirectTarget === undefined ? '' : ` It redirects to ${redirectTarget}.`;
    super(
      'unavailable',
      `${subject(facts)}: ${unavailableText(facts)}` +
        `${lastCause === undefined ? '' : ` Last: ${CAUSE_TEXT[lastCause]}.`}${where}${asked}` +
        `${operation === undefined ? '' : ` ${whatRan(facts, facts.sent)}`}` +
        `${processText(evidence?.process)}`,
      facts,
    );
    this.why = why;
  }
}

/** The handle, or its supervisor, was closed. */
export class ConnectionClosedError extends SupervisorError {
  override readonly name = 'ConnectionClosedError';

  constructor(facts: ErrorFacts & { sent: boolean }) {
    super(
      'closed',
      `${subject(facts)} is closed. ${facts.operation === undefined ? '' : `${whatRan(facts, facts.sent)} `}` +
        'Make a new connection with own() or adopt().',
      facts,
    );
  }
}

/** What was supplied has no transport. It was not connected: that is the caller's to do. */
export class NotConnectedError extends SupervisorError {
  override readonly name = 'NotConnectedError';

  constructor(facts: ErrorFacts) {
    super(
      'not-connected',
      `${subject(facts)}: what was supplied is not connected, and a supplied connection is never connected here. ` +
        'Call its connect() first, then pass it on.',
      facts,
    );
  }
}

/** What was given to `finishAuth` belongs to no login in progress. Nothing was sent, and nothing has changed. */
export class AuthorizationCallbackError extends SupervisorError {
  override readonly name = 'AuthorizationCallbackError';

  constructor(connection: string, why: string) {
    super('authorization-callback', `Connection "${connection}": the callback was not used: ${why}.`, {
      connection,
    });
  }
}

/** An option is missing, unknown or wrong. Nothing was opened. */
export class InvalidOptionsError extends SupervisorError {
  override readonly name = 'InvalidOptionsError';
  /** The option's path, for example `recovery.maxAttempts`. */
  readonly path: string;

  constructor(connection: string, path: string, expected: string) {
    const place = connection === '' ? '' : `Connection "${connection}": `;
    super('invalid-options', `${place}${path}: ${expected}`, { connection });
    this.path = path;
  }
}
