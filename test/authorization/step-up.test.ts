// A tool that needs a further scope: HTTP 403 with insufficient_scope.
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type AuthorizationServer,
  authorizationServer,
  CLIENT,
  REDIRECT_URL,
} from '../support/authorization-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { type HostProvider, hostProvider } from '../support/host-provider.ts';
import { own, settled } from '../support/owned.ts';
import { type ProtectedServer, protectedServer } from '../support/protected-server.ts';

expectNoCrashes();

let authorization: AuthorizationServer;
let server: ProtectedServer;
let provider: HostProvider;
beforeEach(async () => {
  authorization = await authorizationServer();
  server = await protectedServer(authorization);
  server.scopeOfTool.set('write', 'write');
  provider = hostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read' });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

async function connected() {
  const owned = own({ kind: 'http', url: server.url, authProvider: provider });
  owned.handle.on('authorization-required', async (event) => {
    await owned.handle.finishAuth(await authorization.signIn(event.url));
  });
  await owned.handle.ready();
  return owned;
}

const scopes = (text: string | null | undefined) => new Set(text?.split(' '));

it('the person is asked for what there was and what is wanted; a refresh does not hide it', async () => {
  await using one = await connected();
  await one.handle.callTool({ name: 'write' });
  expect(authorization.seen.asked.map(scopes)).toEqual([scopes('read'), scopes('read write')]);
  expect(authorization.seen).toMatchObject({ refreshes: 0, exchanges: 2 });
  await Promise.all([one.handle.callTool({ name: 'read' }), one.handle.callTool({ name: 'write' })]);
  expect(provider.tabs).toHaveLength(2);
});

it('two connections of which one needs a further scope: one login more, and both go on', async () => {
  await using one = await connected();
  await using two = await connected();
  server.expire();
  const calls = ['read', 'write', 'read', 'write'].flatMap((name) => [
    one.handle.callTool({ name: 'read' }),
    two.handle.callTool({ name }),
  ]);
  await Promise.all(calls);
  expect(provider.tabs).toHaveLength(2);
  expect(authorization.seen).toMatchObject({ refused: 0, exchanges: 2 });
  expect(authorization.seen.refreshes).toBeLessThanOrEqual(1);
  expect(server.seen.ran).toHaveLength(8);
});

it('what was asked for, and refused all the same, is not asked for again', async () => {
  server.scopeOfTool.set('write', 'admin');
  await using one = await connected();
  const first = await settled(one.handle.callTool({ name: 'write' }));
  expect(first.error).toMatchObject({ code: 403 });
  const tabs = provider.tabs.length;
  const second = await settled(one.handle.callTool({ name: 'write' }));
  expect(second.error).toMatchObject({ code: 403 });
  expect(provider.tabs).toHaveLength(tabs);
  expect(one.handle.generation).toBe(1);
});
