/**
 * Evidence from a sign-in that an SDK client does by itself: it failed before the request ran, and says nothing about
 * the MCP server.
 */
import type { ErrorShape } from './error-shape.ts';
import type { EvidenceRule } from './failure.ts';

/** RFC 6749, sections 4.1.2.1 and 5.2: what the authorization server answers when it cannot answer now. */
const PASSING_OAUTH_CODES: readonly unknown[] = [
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
];

export function isPassingOAuthCode(code: unknown): boolean {
  return PASSING_OAUTH_CODES.includes(code);
}

/** Both SDKs; v1 sets no `name` on some of these, so the class's own name counts too. */
const NAMES: readonly string[] = [
  'UnauthorizedError',
  'InsufficientScopeError',
  'OAuthError',
  'IssuerMismatchError',
  'RegistrationRejectedError',
  'InsecureTokenEndpointError',
  'AuthorizationServerMismatchError',
];

/** SDK v1 tells of these in plain errors. */
const MESSAGES: readonly RegExp[] = [
  /^Protected resource \S+ does not match expected \S+ \(or origin\)$/,
  /^Incompatible auth server: /,
  /^OAuth client information (?:is bound to|must be saveable)/,
  /^Existing OAuth client information is required/,
  /^Unsupported client authentication method: /,
  /^client_secret_basic authentication requires/,
  /^Either provider\.prepareTokenRequest\(\) or authorizationCode is required$/,
  /^redirectUrl is required for authorization_code flow$/,
];

const METADATA_FAILED = /^HTTP (\d{3}) trying to load .*(?:OAuth|OpenID)/;

export const oauthEvidence: EvidenceRule = ({ error }) => {
  if (mayPass(error)) return { connection: 'usable', execution: 'none', cause: 'authorization-unavailable' };
  const isKnown =
    error.isOfSignIn ||
    error.oauthCode !== undefined ||
    NAMES.includes(error.name) ||
    NAMES.includes(error.className) ||
    MESSAGES.some((message) => message.test(error.message));
  return isKnown ? { connection: 'usable', execution: 'none', cause: 'unauthorized' } : undefined;
};

function mayPass(error: ErrorShape): boolean {
  if (METADATA_FAILED.test(error.message) || isPassingOAuthCode(error.oauthCode)) return true;
  if (!error.isOfSignIn) return false;
  const { status = 0, systemCodes, name } = error;
  return status === 429 || status >= 500 || systemCodes.length > 0 || name === 'TimeoutError';
}
