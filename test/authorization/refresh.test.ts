// Expired tokens, of a real authorization server whose refresh tokens rotate: one flow at a time for one provider.
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type AuthorizationServer,
  authorizationServer,
  CLIENT,
  REDIRECT_URL,
} from '../support/authorization-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { type HostProvider, hostProvider } from '../support/host-provider.ts';
import { own } from '../support/owned.ts';
import { type ProtectedServer, protectedServer } from '../support/protected-server.ts';

expectNoCrashes();

let authorization: AuthorizationServer;
let server: ProtectedServer;
let provider: HostProvider;
beforeEach(async () => {
  authorization = await authorizationServer();
  server = await protectedServer(authorization);
  provider = hostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read' });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

function connect(url = server.url) {
  const owned = own({ kind: 'http', url, authProvider: provider });
  owned.handle.on('authorization-required', async (event) => {
    await owned.handle.finishAuth(await authorization.signIn(event.url));
  });
  return owned;
}

it('two connections with five calls each: all are answered, with one refresh and no login', async () => {
  await using one = connect();
  await one.handle.ready();
  await using two = connect();
  await two.handle.ready();
  expect([provider.tabs.length, authorization.seen.exchanges]).toEqual([1, 1]);
  server.expire();
  const calls = [one, two].flatMap(({ handle }) =>
    Array.from({ length: 5 }, () => handle.callTool({ name: 'read' })),
  );
  expect(await Promise.all(calls)).toHaveLength(10);
  expect(authorization.seen).toMatchObject({ refreshes: 1, refused: 0, exchanges: 1 });
  expect(provider.tabs).toHaveLength(1);
  expect(server.seen.ran).toHaveLength(10);
});
