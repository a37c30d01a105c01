/** Evidence from system errors below HTTP and below stdio. */
import type { ErrorShape, SystemCode } from './error-shape.ts';
import type { EvidenceRule } from './failure.ts';

/** The system calls before a byte of the request can be written. */
const CONNECT_PHASE_CALLS = /^(connect|getaddrinfo|spawn)/;

/** The same, where the system call is not told. */
const CONNECT_PHASE_CODES: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_SSL_WRONG_VERSION_NUMBER',
];

/**
 * Verifying the server's certificate fails before the request is written. An alert from the server (it wants a
 * certificate of ours) may come after that.
 */
const VERIFICATION_CODE = /^(?!.*ALERT).*(CERT|ISSUER|LEAF_SIGNATURE)/;

function isConnectPhase({ code, syscall }: SystemCode): boolean {
  // The same codes occur while connecting (proof) and while reading (no proof): a network goes away in mid-answer.
  if (syscall !== undefined) return CONNECT_PHASE_CALLS.test(syscall);
  return CONNECT_PHASE_CODES.includes(code) || VERIFICATION_CODE.test(code);
}

/** What undici's `fetch` refuses by itself: a port that the Fetch standard blocks, a scheme that is not HTTP. */
const LOCAL_REFUSALS: readonly string[] = ['bad port', 'unknown scheme', 'not implemented... yet...'];

export function isRefusedLocally({ name, causeMessage }: ErrorShape): boolean {
  return name === 'TypeError' && LOCAL_REFUSALS.includes(causeMessage);
}

export const socketEvidence: EvidenceRule = ({ error }) => {
  // A server that redirects to such an address may have run the request.
  if (isRefusedLocally(error)) return { connection: 'suspect', execution: 'unknown', cause: 'unreachable' };
  // One of another phase on the chain says that something was tried before.
  if (error.systemCodes.length > 0 && error.systemCodes.every(isConnectPhase)) {
    return { connection: 'suspect', execution: 'none', cause: 'unreachable' };
  }
  const cut =
    error.systemCodes.length > 0 || (error.name === 'TypeError' && error.message === 'fetch failed');
  return cut ? { connection: 'suspect', execution: 'unknown', cause: 'request-cut' } : undefined;
};

/** How browsers, and undici, say that a request has failed. */
const NETWORK_MESSAGE = /fetch|network|load failed|terminated/i;

/** A mistake in what was asked, or in the code that asked: the wire has no part in it. */
export const localEvidence: EvidenceRule = ({ error }) =>
  error.name === 'TypeError' && error.causeMessage === '' && !NETWORK_MESSAGE.test(error.message)
    ? { connection: 'usable', execution: 'unknown', cause: 'unrecognised' }
    : undefined;
