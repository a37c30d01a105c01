/** An OAuth provider of a host, and the authorization server that it would ask; the latter is answered in `fetch`. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';

export function refreshingProvider(firstToken: string, nextToken: () => string) {
  let token = firstToken;
  let refreshes = 0;
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
    clientInformation: () => ({ client_id: 'host' }),
    tokens: () => ({ access_token: token, token_type: 'Bearer', refresh_token: 'refresh' }),
    saveTokens: (tokens) => {
      token = tokens.access_token;
    },
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => 'verifier',
  };
  const authorizationServer = async (url: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const { pathname } = new URL(String(url instanceof Request ? url.url : url));
    if (pathname.startsWith('/.well-known/')) return new Response('none', { status: 404 });
    if (pathname !== '/token') return fetch(url, init);
    refreshes++;
    return Response.json({ access_token: nextToken(), token_type: 'Bearer', refresh_token: 'refresh' });
  };
  return {
    provider,
    fetch: authorizationServer as typeof fetch,
    refreshes: () => refreshes,
    /** The user has signed in anew. */
    signIn: (fresh: string) => {
      token = fresh;
    },
  };
}
