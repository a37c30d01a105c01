/** What a server says when it wants other credentials (RFC 6750, section 3). */
import { sdkAuth } from './flow.ts';
import type { Refusal, Scopes } from './grants.ts';
import { scopesOf } from './scopes.ts';

export interface Challenge {
  readonly refusal: Refusal;
  readonly resourceMetadataUrl: URL | undefined;
  readonly scopes: Scopes;
}

/** Nothing, where a sign-in would not help. */
export async function challengeOf(response: Response): Promise<Challenge | undefined> {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { extractWWWAuthenticateParams } = await sdkAuth();
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return { refusal: status === 401 ? 'token' : 'scope', resourceMetadataUrl, scopes: scopesOf(scope) };
}
