/** Evidence from system errors below HTTP and below stdio. */
import type { SystemCode } from './error-shape.ts';
import type { EvidenceRule } from './failure.ts';

/** Raised before a byte of the request could be written. */
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
  // ECONNRESET alone cannot tell: it occurs while connecting (proof) and while reading (no proof).
  if (syscall === 'connect' || syscall === 'getaddrinfo' || syscall?.startsWith('spawn')) return true;
  return CONNECT_PHASE_CODES.includes(code) || VERIFICATION_CODE.test(code);
}

export const socketEvidence: EvidenceRule = ({ error }) => {
  if (error.systemCodes.some(isConnectPhase)) {
    return { connection: 'suspect', execution: 'none', cause: 'unreachable' };
  }
  const cut =
    error.systemCodes.length > 0 || (error.name === 'TypeError' && error.message === 'fetch failed');
  return cut ? { connection: 'suspect', execution: 'unknown', cause: 'request-cut' } : undefined;
};
