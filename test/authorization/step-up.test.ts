// A tool that needs a further scope: HTTP 403 with insufficient_scope.
import { beforeEach, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { own, settled } from '../support/owned.ts';
import { authorization, provider, server } from '../support/signing-in.ts';

expectNoCrashes();

beforeEach(() => {
  server.scopeOfTool.set('write', 'write');
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
