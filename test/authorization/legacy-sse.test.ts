// The sign-in of a connection over HTTP+SSE, whose every answer comes on one stream.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { beforeEach, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { own, settled } from '../support/owned.ts';
import { authorization, provider, server } from '../support/signing-in.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

beforeEach(() => {
  server.scopeOfTool.set('write', 'write');
});

function connect() {
  const owned = own({ kind: 'sse', url: server.sseUrl, authProvider: provider });
  let last: URL | undefined;
  owned.handle.on('authorization-required', ({ url }) => {
    last = url;
  });
  const signIn = async () => {
    await until(() => last !== undefined);
    const url = last as URL;
    last = undefined;
    await owned.handle.finishAuth(await authorization.signIn(url));
  };
  return { ...owned, signIn };
}

it('a login at the dial, then a refresh for five calls, on one session', async () => {
  await using one = connect();
  const ready = one.handle.ready();
  await one.signIn();
  await ready;
  server.expire();
  await Promise.all(Array.from({ length: 5 }, () => one.handle.callTool({ name: 'read' })));
  expect(authorization.seen).toMatchObject({ refreshes: 1, refused: 0, exchanges: 1 });
  expect([provider.tabs.length, one.handle.generation, server.seen.sessions.size]).toEqual([1, 1, 1]);
  expect(server.seen.admitted).not.toContain('ping');
});

it('with a token that expired before the dial', async () => {
  await using first = connect();
  const ready = first.handle.ready();
  await first.signIn();
  await ready;
  server.expire();
  await using second = connect();
  await second.handle.callTool({ name: 'read' });
  expect(authorization.seen).toMatchObject({ refreshes: 1, exchanges: 1 });
  expect([provider.tabs.length, first.handle.generation]).toEqual([1, 1]);
});

it('a step-up, on the same session', async () => {
  await using one = connect();
  const ready = one.handle.ready();
  await one.signIn();
  await ready;
  const call = one.handle.callTool({ name: 'write' });
  await one.signIn();
  await call;
  expect([provider.tabs.length, one.handle.generation, server.seen.ran]).toEqual([2, 1, ['write']]);
});

it('an authorization server that cannot answer now is asked again by the next dial', async () => {
  await using first = connect();
  const ready = first.handle.ready();
  await first.signIn();
  await ready;
  await first.handle.close();
  server.expire();
  let asked = 0;
  authorization.intercept = (req, res) => {
    if (req.url !== '/token' || ++asked > 2) return false;
    res.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"temporarily_unavailable"}');
    return true;
  };
  await using second = connect();
  await second.handle.callTool({ name: 'read' });
  expect([asked, provider.tabs.length]).toEqual([3, 1]);
});

it('nobody signs in: the call gets the UnauthorizedError at its deadline, and one page was opened', async () => {
  await using one = connect();
  const { error } = await settled(one.handle.callTool({ name: 'read' }, undefined, { timeout: 200 }));
  expect(error).toBeInstanceOf(UnauthorizedError);
  expect([provider.tabs.length, one.handle.status.authorization]).toEqual([1, 'required']);
});
