/** What came back from the authorization server through the person's browser (RFC 6749, section 4.1.2; RFC 9207). */
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';

/** Its URL, its parameters, or only the code. */
export type Callback = string | URL | URLSearchParams;

/** Nothing was sent. The message says why. */
export class CallbackRefused extends Error {}

/** Undefined for a bare code. */
export function callbackParams(callback: Callback): URLSearchParams | undefined {
  if (callback instanceof URLSearchParams) return callback;
  if (typeof callback === 'string' && !URL.canParse(callback)) return undefined;
  const { searchParams } = new URL(callback);
  const isCallback = searchParams.has('code') || searchParams.has('error') || callback instanceof URL;
  return isCallback ? searchParams : undefined;
}

/** Does it belong to this login, and does it come from its authorization server? */
export function checkCallback(
  params: URLSearchParams,
  authorizationUrl: URL,
  metadata: AuthorizationServerMetadata | undefined,
): void {
  if (params.get('state') !== authorizationUrl.searchParams.get('state')) {
    throw new CallbackRefused('its state is not that of the login in progress');
  }
  if (metadata === undefined) return;
  const iss = params.get('iss');
  const { authorization_response_iss_parameter_supported: isRequired } = metadata as {
    [name: string]: unknown;
  };
  if (iss === null ? isRequired === true : iss !== metadata.issuer) {
    throw new CallbackRefused('its iss is not the authorization server of the login in progress');
  }
}
