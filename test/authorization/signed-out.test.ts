// Nobody signs in: what is tried by itself, and what is not.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type AuthorizationServer,
  authorizationServer,
  CLIENT,
  REDIRECT_URL,
} from '../support/authorization-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { HostProvider } from '../support/host-provider.ts';
import { type OwnedSettings, own, settled } from '../support/owned.ts';
import { type ProtectedServer, protectedServer } from '../support/protected-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

let authorization: AuthorizationServer;
let server: ProtectedServer;
let provider: HostProvider;
beforeEach(async () => {
  authorization = await authorizationServer();
  server = await protectedServer(authorization);
  provider = new HostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read' });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

/** Its first dial was refused, and nobody finishes the login. */
async function signedOut(recovery: OwnedSettings['recovery'] = {}) {
  const owned = own(
    { kind: 'http', url: server.url, authProvider: provider },
    { recovery: { coolDownMs: 30, ...recovery } },
  );
  await until(() => owned.handle.state === 'exhausted');
  await settled(owned.handle.callTool({ name: 'read' }));
  return owned;
}

/** A token of a person who has signed in elsewhere. */
async function tokensFromElsewhere() {
  const other = new HostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read' });
  const elsewhere = own({ kind: 'http', url: server.url, authProvider: other });
  elsewhere.handle.on('authorization-required', async ({ url }) => {
    await elsewhere.handle.finishAuth(await authorization.signIn(url));
  });
  await elsewhere.handle.ready();
  const tokens = other.tokens();
  // Its session ends with it, its tokens do not.
  await elsewhere[Symbol.asyncDispose]();
  return tokens as NonNullable<typeof tokens>;
}

it('calls go on: one tab, no dial, no request, and the tokens are read once for each call', async () => {
  await using one = await signedOut();
  const { length: refused } = server.seen.refused;
  const { length: requests } = authorization.seen.requests;
  for (let call = 1; call <= 5; call++) {
    const { reads } = provider;
    const { error } = await settled(one.handle.callTool({ name: 'read' }));
    expect(error).toBeInstanceOf(UnauthorizedError);
    expect(provider.reads).toBe(reads + 1);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(provider.reads, 'none between two calls').toBe(reads + 1);
  }
  expect(provider.tabs).toHaveLength(1);
  expect([server.seen.refused.length, authorization.seen.requests.length]).toEqual([refused, requests]);
});

it('tokens from elsewhere are taken by the next call', async () => {
  await using one = await signedOut();
  provider.saveTokens(await tokensFromElsewhere());
  await one.handle.callTool({ name: 'read' });
  expect([provider.tabs.length, one.handle.generation]).toEqual([1, 1]);
  expect(one.handle.status.authorization).toBeUndefined();
});

it('in the midst of a session too, and calls that wait for the login go on', async () => {
  provider.saveTokens(await tokensFromElsewhere());
  await using one = own({ kind: 'http', url: server.url, authProvider: provider });
  one.handle.on('authorization-required', () => {});
  await one.handle.ready();
  await until(() => server.seen.admitted.includes('GET'));
  provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
  const first = one.handle.callTool({ name: 'read' });
  await until(() => one.handle.status.authorization === 'required');
  provider.saveTokens(await tokensFromElsewhere());
  await Promise.all([first, one.handle.callTool({ name: 'read' })]);
  expect(one.handle.status.authorization).toBeUndefined();
  expect([provider.tabs.length, one.handle.generation]).toEqual([1, 1]);
});

it.each(['http', 'sse'] as const)(
  '%s: a host that has them at once is quicker than the dial is to fail',
  async (kind) => {
    const tokens = await tokensFromElsewhere();
    provider = new HostProvider({
      client: CLIENT,
      redirectUrl: REDIRECT_URL,
      ask: () => provider.saveTokens(tokens),
    });
    const url = kind === 'http' ? server.url : server.sseUrl;
    await using one = own({ kind, url, authProvider: provider });
    await Promise.all([one.handle.ready(), one.handle.callTool({ name: 'read' })]);
    expect([provider.tabs.length, server.seen.ran.length]).toEqual([1, 1]);
  },
);

it('ready() takes them too', async () => {
  await using one = await signedOut();
  provider.saveTokens(await tokensFromElsewhere());
  await one.handle.ready();
  expect(provider.tabs).toHaveLength(1);
});

it('eager reads the tokens once in each cool-down, and dials when they are others', async () => {
  await using one = await signedOut({ recreate: 'eager' });
  const { reads } = provider;
  const refused = server.seen.refused.length;
  await until(() => provider.reads >= reads + 3);
  expect([server.seen.refused.length, provider.tabs.length, one.handle.state]).toEqual([
    refused,
    1,
    'exhausted',
  ]);
  provider.saveTokens(await tokensFromElsewhere());
  await until(() => one.handle.state === 'ready');
  expect(provider.tabs).toHaveLength(1);
});

it('another refresh token is enough', async () => {
  provider.saveTokens({ access_token: 'a', token_type: 'Bearer' });
  await using one = await signedOut();
  const { refresh_token } = await tokensFromElsewhere();
  provider.saveTokens({ access_token: 'a', token_type: 'Bearer', refresh_token: refresh_token as string });
  await one.handle.callTool({ name: 'read' });
  expect([provider.tabs.length, authorization.seen.refreshes]).toEqual([1, 1]);
});

it('a read that throws counts as unchanged', async () => {
  await using one = await signedOut();
  const tokens = await tokensFromElsewhere();
  provider.tokens = () => {
    throw new Error('the keychain is locked');
  };
  const { error } = await settled(one.handle.callTool({ name: 'read' }));
  expect(error).toBeInstanceOf(UnauthorizedError);
  provider.tokens = () => tokens;
  await one.handle.callTool({ name: 'read' });
});

it('reconnect() asks the person anew', async () => {
  await using one = await signedOut();
  const first = await authorization.signIn(provider.tabs[0] as URL);
  const again = settled(one.handle.reconnect());
  await until(() => provider.tabs.length === 2);
  expect((await again).error).toBeInstanceOf(UnauthorizedError);
  const { error } = await settled(one.handle.finishAuth(first));
  expect(error, 'the callback of the login before').toMatchObject({ code: 'authorization-callback' });
  await one.handle.finishAuth(await authorization.signIn(provider.tabs[1] as URL));
  await one.handle.callTool({ name: 'read' });
});

it('tokens that cannot be read harm no session', async () => {
  provider.saveTokens(await tokensFromElsewhere());
  await using one = own(
    { kind: 'http', url: server.url, authProvider: provider },
    { liveness: { heartbeatMs: 20 } },
  );
  await one.handle.ready();
  const { tokens } = provider;
  const locked = new Error('the keychain is locked');
  let reads = 0;
  provider.tokens = () => {
    reads++;
    throw locked;
  };
  const { error } = await settled(one.handle.callTool({ name: 'read' }));
  expect(error).toBe(locked);
  await until(() => reads > 4);
  provider.tokens = tokens;
  await one.handle.callTool({ name: 'read' });
  expect([one.handle.generation, server.seen.sessions.size]).toEqual([1, 1]);
});

it('nor do those that fail only when they are read once more', async () => {
  provider.saveTokens(await tokensFromElsewhere());
  await using one = own({ kind: 'http', url: server.url, authProvider: provider });
  await one.handle.ready();
  await until(() => server.seen.admitted.includes('GET'));
  server.expire();
  const { tokens } = provider;
  const locked = new Error('the keychain is locked');
  let reads = 0;
  provider.tokens = () => {
    if (reads++ > 0) throw locked;
    return tokens.call(provider);
  };
  const { error } = await settled(one.handle.callTool({ name: 'read' }));
  expect(error).toBe(locked);
  provider.tokens = tokens;
  await one.handle.callTool({ name: 'read' });
  expect([one.handle.generation, server.seen.admitted.includes('ping')]).toEqual([1, false]);
});

it('with a listener that comes late the next call waits', async () => {
  await using one = await signedOut();
  one.handle.on('authorization-required', () => {});
  const call = settled(one.handle.callTool({ name: 'read' }, undefined, { timeout: 5_000 }));
  await one.handle.finishAuth(await authorization.signIn(provider.tabs[0] as URL));
  expect((await call).error).toBeUndefined();
  expect(provider.tabs).toHaveLength(1);
});

it('without a provider there is no login to be spared: one trial in each cool-down, on demand', async () => {
  await using one = own({ kind: 'http', url: server.url, headers: { authorization: 'Bearer wrong' } });
  await until(() => one.handle.state === 'exhausted');
  const dials = () => server.seen.refused.length;
  expect(dials()).toBe(1);
  await until(async () => {
    await settled(one.handle.callTool({ name: 'read' }));
    return dials() === 2;
  });
  expect(one.handle.status).toMatchObject({ reason: 'unauthorized', authorization: undefined });
});

it('where the host owns the sign-in, finishAuth says so', async () => {
  const connect = () => Promise.reject(new Error('not now'));
  await using connected = own(connect);
  await using process = own({ kind: 'stdio', command: 'false' });
  await using plain = own({ kind: 'http', url: server.url });
  for (const { handle } of [connected, process, plain]) {
    const { error } = await settled(handle.finishAuth('code'));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/the host owns its sign-in/);
  }
});
