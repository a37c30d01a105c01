/** A real authorization server: refresh tokens rotate, and using one twice ends all of its grant. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from 'oidc-provider';

export const REDIRECT_URL = 'http://127.0.0.1:1/callback';
export const CLIENT = { client_id: 'host' };
export const SCOPES = ['read', 'write'];

/** Answers in place of the server; false where it has not. */
type Interception = (req: IncomingMessage, res: ServerResponse) => boolean;

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  readonly seen: {
    /** Uses of refresh tokens, and those that were refused. */
    refreshes: number;
    refused: number;
    /** Codes that were exchanged. */
    exchanges: number;
    /** Scopes that the person was asked for, in the order of the logins. */
    readonly asked: (string | null)[];
    /** Every request, by method and path. */
    readonly requests: string[];
    readonly headers: IncomingMessage['headers'][];
  };
  intercept: Interception | undefined;
  /** The scopes of an access token that is good; undefined for any other. */
  scopesOf(token: string): Promise<string[] | undefined>;
  /** The person signs in and agrees: where the browser is sent to then. */
  signIn(url: URL): Promise<URL>;
}

/** Follows redirects and keeps cookies, as a browser does, until the host's own address comes. */
async function browse(from: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = from;
  for (let hops = 0; hops < 10; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) as unknown as [string, string, string];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
    at = new URL(location, at);
    if (at.href.startsWith(REDIRECT_URL)) return at;
  }
  throw new Error('Too many redirects');
}

/** It warns of defaults that are for tests only. */
async function quietProvider(issuer: string, configuration: object): Promise<Provider> {
  const { warn } = console;
  console.warn = () => {};
  try {
    const module = await import('oidc-provider');
    return new module.Provider(issuer, configuration);
  } finally {
    console.warn = warn;
  }
}

export async function authorizationServer(): Promise<AuthorizationServer> {
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = await quietProvider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [REDIRECT_URL],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    scopes: SCOPES,
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    cookies: { keys: ['test'] },
    pkce: { required: () => true },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    ttl: { AccessToken: 600, RefreshToken: 600, Grant: 600, Session: 600, Interaction: 600 },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: SCOPES.join(' '), accessTokenFormat: 'opaque' }),
      },
    },
  });
  const seen: AuthorizationServer['seen'] = {
    refreshes: 0,
    refused: 0,
    exchanges: 0,
    asked: [],
    requests: [],
    headers: [],
  };
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.params?.grant_type === 'refresh_token') seen.refreshes++;
    else seen.exchanges++;
  });
  provider.on('grant.error', ({ oidc }) => {
    if (oidc.params?.grant_type === 'refresh_token') seen.refused++;
  });

  async function agree(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { params, session } = await provider.interactionDetails(req, res);
    const accountId = session?.accountId ?? 'person';
    const grant = new provider.Grant({ accountId, clientId: CLIENT.client_id });
    const scope = String(params.scope ?? '');
    grant.addOIDCScope(scope);
    grant.addResourceScope(String(params.resource), scope);
    const grantId = await grant.save();
    const result = { login: { accountId }, consent: { grantId } };
    await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  }

  const answer = provider.callback();
  const server: AuthorizationServer = {
    issuer,
    seen,
    intercept: undefined,
    scopesOf: async (token) => (await provider.AccessToken.find(token))?.scope?.split(' '),
    signIn: (url) => browse(url),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
    },
  };
  http.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams } = new URL(req.url as string, issuer);
    seen.requests.push(`${req.method} ${pathname}`);
    seen.headers.push(req.headers);
    if (server.intercept?.(req, res)) return;
    if (pathname === '/auth') seen.asked.push(searchParams.get('scope'));
    if (pathname.startsWith('/interaction/')) agree(req, res).catch((error) => res.destroy(error));
    else answer(req, res);
  });
  return server;
}
