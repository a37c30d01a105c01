/** One run of the SDK's authorization flow with the host's provider. */
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import { FlowRequests } from './flow-requests.ts';
import { forwardedProvider } from './forwarded-provider.ts';
import type { Scopes } from './grants.ts';
import { Login, type LoginParts } from './login.ts';
import { scopeText } from './scopes.ts';

/** Loaded with the first refusal. */
export const sdkAuth = () => import('@modelcontextprotocol/sdk/client/auth.js');

/** The flow would have asked the person, and was not to. */
export class LoginRefusedError extends Error {}

export interface FlowParts {
  readonly provider: OAuthClientProvider;
  readonly serverUrl: string;
  readonly resourceMetadataUrl: URL | undefined;
  readonly scopes: Scopes;
  readonly fetch: typeof fetch;
  readonly mayAskPerson: boolean;
  /** A refresh would not give what is wanted. */
  readonly mustAskPerson: boolean;
  /** Digest of the tokens before it. */
  readonly before: string | undefined;
}

export interface LoginListener {
  began(login: Login): void;
  /** The host has asked the person, and perhaps has the tokens already. */
  asked(login: Login): Promise<void>;
  failed(login: Login, error: unknown): void;
}

/** Resolves when the tokens are there, or a login has begun. */
export async function runFlow(parts: FlowParts, listener: LoginListener): Promise<Login | undefined> {
  const { provider, serverUrl, resourceMetadataUrl, scopes, fetch, before } = parts;
  const { auth, parseErrorResponse } = await sdkAuth();
  const requests = new FlowRequests(fetch, parseErrorResponse);
  return new Promise((resolve, reject) => {
    let discovered: OAuthDiscoveryState | undefined;
    let login: Login | undefined;
    const forwarded = forwardedProvider(provider, {
      hidesRefreshToken: parts.mustAskPerson,
      discovered: (state) => {
        discovered = state;
      },
      beforeLogin: () => {
        if (requests.failure !== undefined) throw requests.failure.error;
        if (!parts.mayAskPerson) throw new LoginRefusedError();
      },
      login: (url, ask) => {
        login = new Login({ url, serverUrl, resourceMetadataUrl, fetch, discovered }, before);
        listener.began(login);
        resolve(login);
        return ask();
      },
    });
    auth(forwarded, options(parts, scopeText(scopes), requests))
      .then(() => (login === undefined ? resolve(undefined) : listener.asked(login)))
      .catch((error: unknown) => {
        const marked = requests.blame(error);
        if (login === undefined) reject(marked);
        else listener.failed(login, marked);
      });
  });
}

/** Exchanges the code of a login. */
export async function exchangeCode(
  provider: OAuthClientProvider,
  login: LoginParts,
  authorizationCode: string,
): Promise<void> {
  const { auth, parseErrorResponse } = await sdkAuth();
  const requests = new FlowRequests(login.fetch, parseErrorResponse);
  const scope = login.url.searchParams.get('scope') ?? undefined;
  try {
    await auth(forwardedProvider(provider), { ...options(login, scope, requests), authorizationCode });
  } catch (error) {
    throw requests.blame(error);
  }
}

function options(
  { serverUrl, resourceMetadataUrl }: Pick<FlowParts, 'serverUrl' | 'resourceMetadataUrl'>,
  scope: string | undefined,
  { fetch: fetchFn }: FlowRequests,
) {
  return {
    serverUrl,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
    fetchFn,
  };
}
