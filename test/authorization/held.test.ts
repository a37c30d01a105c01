// A call whose request was refused waits for the sign-in. Nobody runs it meanwhile, and its wait says nothing else.
import { beforeEach, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { type Deferred, deferred } from '../support/deferred.ts';
import { own, settled } from '../support/owned.ts';
import { authorization, provider, server } from '../support/signing-in.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

/** The refresh goes on when it resolves. */
let refreshing: Deferred<void>;
let asked: number;
beforeEach(() => {
  refreshing = deferred();
  asked = 0;
});

/** Ready, with a token that has expired, and a refresh that takes as long as is wanted. */
async function expired() {
  const slowly: typeof fetch = async (url, init) => {
    if (init?.body instanceof URLSearchParams && init.body.get('grant_type') === 'refresh_token') {
      asked++;
      await refreshing.promise;
    }
    return fetch(url, init);
  };
  const owned = own({ kind: 'http', url: server.url, authProvider: provider, fetch: slowly });
  owned.handle.on('authorization-required', async ({ url }) => {
    await owned.handle.finishAuth(await authorization.signIn(url));
  });
  await owned.handle.ready();
  await until(() => server.seen.admitted.includes('GET'));
  server.expire();
  return owned;
}

it('a call that is given up while it waits is not sent any more, and is no sign of trouble', async () => {
  await using one = await expired();
  const abort = new AbortController();
  const late = settled(one.handle.callTool({ name: 'read' }, undefined, { timeout: 150 }));
  const aborted = settled(one.handle.callTool({ name: 'read' }, undefined, { signal: abort.signal }));
  const patient = one.handle.callTool({ name: 'write' });
  await until(() => asked === 1);
  abort.abort('enough');
  expect((await aborted).error).toBeDefined();
  expect((await late).error).toMatchObject({ code: -32001 });
  refreshing.resolve();
  await patient;
  expect([server.seen.ran, asked, one.handle.generation]).toEqual([['write'], 1, 1]);
  expect(server.seen.admitted).not.toContain('ping');
  expect(one.handle.status.lastError).toBeUndefined();
});

it('nor is one that is refused after it was given up, and a later one was answered', async () => {
  await using one = await expired();
  let refuse: (() => void) | undefined;
  server.intercept = (_req, res, body) => {
    if (!body.includes('"late"') || body.includes('cancelled')) return false;
    if (refuse !== undefined) return false;
    refuse = () => void res.writeHead(401).end();
    return true;
  };
  const call = one.handle.callTool({ name: 'read', arguments: { late: 'late' } }, undefined, { timeout: 50 });
  expect((await settled(call)).error).toMatchObject({ code: -32001 });
  refreshing.resolve();
  await one.handle.callTool({ name: 'write' });
  const { length } = server.seen.admitted;
  refuse?.();
  await one.handle.callTool({ name: 'write' });
  await one.handle.callTool({ name: 'write' });
  expect(server.seen.admitted.slice(length)).toEqual(['tools/call', 'tools/call']);
  expect(server.seen.ran).toEqual(['write', 'write', 'write']);
});

it('a connection that is lost while calls wait: they are sent on the next one, once', async () => {
  await using one = await expired();
  const calls = Array.from({ length: 3 }, () => one.handle.callTool({ name: 'read' }));
  await until(() => asked === 1);
  const reconnected = one.handle.reconnect();
  refreshing.resolve();
  await Promise.all([...calls, reconnected]);
  expect([server.seen.ran.length, one.handle.generation, asked]).toEqual([3, 2, 1]);
  expect(provider.tabs).toHaveLength(1);
});

it('a call that is refused after its generation was retired is sent on the next one', async () => {
  await using one = await expired();
  let refuse: (() => void) | undefined;
  server.intercept = (_req, res, body) => {
    if (!body.includes('"late"') || refuse !== undefined) return false;
    refuse = () => void res.writeHead(401).end();
    return true;
  };
  const call = one.handle.callTool({ name: 'read', arguments: { late: 'late' } });
  await until(() => refuse !== undefined);
  const reconnected = one.handle.reconnect();
  await until(() => one.handle.state === 'recreating');
  refuse?.();
  refreshing.resolve();
  await Promise.all([call, reconnected]);
  expect([server.seen.ran, one.handle.generation, asked]).toEqual([['read'], 2, 1]);
});

it('close() does not wait for it', async () => {
  const one = await expired();
  const call = settled(one.handle.callTool({ name: 'read' }));
  await until(() => asked === 1);
  const closed = one.handle.close();
  expect((await call).error).toMatchObject({ code: 'closed' });
  refreshing.resolve();
  await closed;
  expect(server.seen.ran).toEqual([]);
});
