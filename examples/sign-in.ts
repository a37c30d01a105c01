/** A server that wants its user to sign in: the call waits for the person, and goes on. */
import assert from 'node:assert/strict';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { createSupervisor } from 'mcp-steward';
import { authorizationServer, CLIENT, REDIRECT_URL } from '../test/support/authorization-server.ts';
import { protectedServer } from '../test/support/protected-server.ts';

await using authorization = await authorizationServer();
await using server = await protectedServer(authorization);
await using supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });

let tokens: OAuthTokens | undefined;
let verifier = '';
const authProvider: OAuthClientProvider = {
  redirectUrl: REDIRECT_URL,
  clientMetadata: { redirect_uris: [REDIRECT_URL], scope: 'read' },
  state: () => crypto.randomUUID(),
  clientInformation: () => CLIENT,
  tokens: () => tokens,
  saveTokens(saved) {
    tokens = saved;
  },
  codeVerifier: () => verifier,
  saveCodeVerifier(saved) {
    verifier = saved;
  },
  redirectToAuthorization() {},
};

// One provider for both: one login, and one refresh at a time.
const files = supervisor.own('files', { transport: { kind: 'http', url: server.url, authProvider } });
const notes = supervisor.own('notes', { transport: { kind: 'http', url: server.otherUrl, authProvider } });

files.on('authorization-required', async ({ connection, url }) => {
  console.log(`${connection}: sign in at ${url.origin}`);
  const callback = await authorization.signIn(url); // your browser, and your redirect URL
  await files.finishAuth(callback);
});

await Promise.all([files.callTool({ name: 'read' }), notes.callTool({ name: 'read' })]);
assert.equal(authorization.seen.exchanges, 1);

server.expire();
await Promise.all([1, 2, 3, 4, 5].map(() => files.callTool({ name: 'read' })));
assert.equal(authorization.seen.refreshes, 1);
assert.equal(server.seen.ran.length, 7);
