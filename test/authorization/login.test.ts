// A login that a person has to finish: at a dial and in the midst of a session.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type AuthorizationServer,
  authorizationServer,
  CLIENT,
  REDIRECT_URL,
} from '../support/authorization-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { type Deferred, deferred } from '../support/deferred.ts';
import { HostProvider } from '../support/host-provider.ts';
import { type Owned, type OwnedSettings, own, settled } from '../support/owned.ts';
import { type ProtectedServer, protectedServer } from '../support/protected-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

let authorization: AuthorizationServer;
let server: ProtectedServer;
beforeEach(async () => {
  authorization = await authorizationServer();
  server = await protectedServer(authorization);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

interface Host extends Owned {
  readonly provider: HostProvider;
  /** The pages that its listener was told of. */
  readonly told: { url: URL; generation: number; connection: string }[];
}

function host(settings: OwnedSettings & { provider?: HostProvider; listens?: boolean } = {}): Host {
  const { provider = newProvider(), listens = true, ...rest } = settings;
  const owned = own({ kind: 'http', url: server.url, authProvider: provider }, rest);
  const told: Host['told'] = [];
  if (listens) owned.handle.on('authorization-required', (event) => told.push(event));
  return { ...owned, provider, told };
}

function newProvider(ask?: (url: URL) => void | Promise<void>): HostProvider {
  return new HostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read', ...(ask && { ask }) });
}

/** The person signs in at the last page. */
const callback = ({ provider }: Pick<Host, 'provider'>) => authorization.signIn(provider.tabs.at(-1) as URL);

/** The person does not want to. */
function refusal({ provider }: Pick<Host, 'provider'>): URL {
  const url = new URL(`${REDIRECT_URL}?error=access_denied&error_description=no`);
  url.searchParams.set('state', provider.tabs.at(-1)?.searchParams.get('state') as string);
  url.searchParams.set('iss', authorization.issuer);
  return url;
}

/** Signed in and ready; what the server had given is gone. */
async function signedOut(settings: Parameters<typeof host>[0] = {}): Promise<Host> {
  const signed = host(settings);
  const first = signed.handle.ready();
  await until(() => signed.provider.tabs.length === 1);
  await signed.handle.finishAuth(await callback(signed));
  await first.catch(() => signed.handle.ready());
  await until(() => server.seen.admitted.includes('GET'));
  signed.provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
  return signed;
}

it('at a dial: a call waits for the person, and is answered', async () => {
  await using signing = host();
  const call = signing.handle.callTool({ name: 'read' });
  await until(() => signing.told.length === 1);
  expect(signing.told[0]).toMatchObject({ connection: 'files', generation: 1 });
  expect(signing.told[0]?.url.href).toBe(signing.provider.tabs[0]?.href);
  await until(() => signing.handle.state === 'exhausted');
  expect(signing.handle.status).toMatchObject({
    authorization: 'required',
    reason: 'unauthorized',
    action: expect.stringContaining('finishAuth()'),
  });
  await signing.handle.finishAuth(await callback(signing));
  await call;
  expect(signing.handle.status).toMatchObject({ state: 'ready', authorization: undefined });
  expect([signing.provider.tabs.length, authorization.seen.exchanges, server.seen.ran.length]).toEqual([
    1, 1, 1,
  ]);
});

it('in the midst of a session: five calls wait for one login, on the same session', async () => {
  await using signing = await signedOut();
  const calls = Array.from({ length: 5 }, () => signing.handle.callTool({ name: 'read' }));
  await until(() => signing.handle.status.authorization === 'required');
  expect(signing.handle.state).toBe('ready');
  await signing.handle.finishAuth(await callback(signing));
  await Promise.all(calls);
  expect([signing.told.length, signing.provider.tabs.length]).toEqual([2, 2]);
  expect(signing.handle.generation).toBe(1);
  expect([server.seen.ran.length, server.seen.sessions.size]).toEqual([5, 1]);
});

it.each(['at a dial', 'in the midst of a session'])(
  '%s: at its deadline a call gets the UnauthorizedError',
  async (when) => {
    await using signing = when === 'at a dial' ? host() : await signedOut();
    const { error } = await settled(signing.handle.callTool({ name: 'read' }, undefined, { timeout: 300 }));
    expect(error).toBeInstanceOf(UnauthorizedError);
    expect(server.seen.ran).toEqual([]);
    await signing.handle.finishAuth(await callback(signing));
    await signing.handle.callTool({ name: 'read' });
    // What had been given up was not sent again.
    expect(server.seen.ran).toEqual(['read']);
    expect(server.seen.admitted).not.toContain('ping');
  },
);

it.each(['at a dial', 'in the midst of a session'])('%s: without waitForReady at once', async (when) => {
  const recovery = { waitForReady: false };
  await using signing = host({ recovery });
  await until(() => signing.handle.state === 'exhausted');
  if (when !== 'at a dial') {
    await signing.handle.finishAuth(await callback(signing));
    await signing.handle.ready();
    signing.provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
  }
  const { error } = await settled(signing.handle.callTool({ name: 'read' }));
  expect(error).toBeInstanceOf(UnauthorizedError);
});

it.each(['at a dial', 'in the midst of a session'])(
  '%s: without a listener, once the host has asked the person',
  async (when) => {
    const asking: Deferred<void>[] = [];
    const provider = newProvider(() => {
      asking.push(deferred());
      return asking.at(-1)?.promise;
    });
    await using signing = host({ provider, listens: false });
    await until(() => asking.length === 1);
    if (when !== 'at a dial') {
      await signing.handle.finishAuth(await callback(signing));
      await signing.handle.ready();
      signing.provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
    }
    const call = settled(signing.handle.callTool({ name: 'read' }));
    const ready = settled(signing.handle.ready());
    await until(() => asking.length === (when === 'at a dial' ? 1 : 2));
    for (const { resolve } of asking) resolve();
    expect((await call).error).toBeInstanceOf(UnauthorizedError);
    if (when === 'at a dial') expect((await ready).error).toBeInstanceOf(UnauthorizedError);
    const { tabs } = signing.provider;
    const opened = tabs.length;
    const again = await settled(signing.handle.callTool({ name: 'read' }));
    expect(again.error).toBeInstanceOf(UnauthorizedError);
    expect(tabs).toHaveLength(opened);
  },
);

it('a host that waits for the person itself may take longer than the handshake may, and save the tokens', async () => {
  let entered = 0;
  const provider = newProvider(async (url) => {
    entered++;
    await until(() => dials() > 0);
    const other = newProvider();
    const { searchParams } = await authorization.signIn(url);
    const response = await fetch(`${authorization.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: searchParams.get('code') as string,
        code_verifier: provider.codeVerifier(),
        redirect_uri: REDIRECT_URL,
        ...CLIENT,
      }),
    });
    expect(other.tabs).toEqual([]);
    provider.saveTokens((await response.json()) as never);
  });
  await using signing = host({ provider, listens: false, timeouts: { connectTimeoutMs: 150 } });
  const dials = () => signing.transitions.filter(({ to }) => to === 'exhausted').length;
  await Promise.all([signing.handle.ready(), signing.handle.callTool({ name: 'read' })]);
  expect([entered, provider.tabs.length, server.seen.ran.length]).toEqual([1, 1, 1]);
});

it('what the person refuses ends the login, and rejects what waits with it, on each connection', async () => {
  await using one = await signedOut();
  await using two = host({ provider: one.provider });
  one.provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
  const calls = [one, two].map(({ handle }) => settled(handle.callTool({ name: 'read' })));
  for (const { handle } of [one, two]) await until(() => handle.status.authorization === 'required');
  await until(() => two.handle.state === 'exhausted');
  const finished = await settled(one.handle.finishAuth(refusal(one)));
  expect(finished.error).toMatchObject({ name: 'AccessDeniedError', errorCode: 'access_denied' });
  for (const { error } of await Promise.all(calls)) expect(error).toBe(finished.error);
  expect(one.handle.status).toMatchObject({ state: 'ready', authorization: undefined });
  expect(two.handle.status).toMatchObject({ state: 'exhausted', authorization: undefined });
  expect([one.provider.tabs.length, authorization.seen.exchanges]).toEqual([2, 1]);
});

it('at a dial too', async () => {
  await using signing = host();
  const call = settled(signing.handle.callTool({ name: 'read' }));
  const ready = settled(signing.handle.ready());
  await until(() => signing.handle.state === 'exhausted');
  await settled(signing.handle.finishAuth(refusal(signing)));
  expect((await call).error).toMatchObject({ errorCode: 'access_denied' });
  expect((await ready).error).toMatchObject({ errorCode: 'access_denied' });
  expect(signing.handle.status.authorization).toBeUndefined();
  const reconnected = signing.handle.reconnect();
  await until(() => signing.provider.tabs.length === 2);
  await signing.handle.finishAuth(await callback(signing));
  await reconnected;
});

it.each([
  ['a URL', (url: URL) => url],
  ['its text', (url: URL) => url.href],
  ['its parameters', (url: URL) => url.searchParams],
  ['the bare code', (url: URL) => url.searchParams.get('code') as string],
])('finishAuth takes %s', async (_what, form) => {
  await using signing = host();
  await until(() => signing.told.length === 1);
  await signing.handle.finishAuth(form(await callback(signing)));
  await signing.handle.callTool({ name: 'read' });
  expect(authorization.seen.exchanges).toBe(1);
});

it('a callback that belongs to no login in progress is an error, and nothing is sent', async () => {
  await using signing = host({ lazy: true });
  const refused = async (form: string | URL | URLSearchParams) => {
    const { length } = authorization.seen.requests;
    const { error } = await settled(signing.handle.finishAuth(form));
    expect(error).toMatchObject({ name: 'AuthorizationCallbackError', connection: 'files' });
    expect(authorization.seen.requests).toHaveLength(length);
  };
  await refused('code');
  const ready = signing.handle.ready();
  await until(() => signing.told.length === 1);
  const url = await callback(signing);
  const changed = (name: string, value: string) => {
    const other = new URL(url);
    other.searchParams.set(name, value);
    return other;
  };
  const without = (name: string) => {
    const other = new URL(url);
    other.searchParams.delete(name);
    return other;
  };
  await refused(changed('state', 'another'));
  await refused(without('state'));
  await refused(without('code'));
  await refused(changed('iss', 'http://127.0.0.1:1'));
  await refused(without('iss'));
  await refused(`${REDIRECT_URL}?error=access_denied&state=another`);
  expect(signing.handle.status.authorization).toBe('required');
  const [first, second] = await Promise.all([
    settled(signing.handle.finishAuth(url)),
    settled(signing.handle.finishAuth(url)),
  ]);
  expect(first.error).toBeUndefined();
  expect(second.error).toMatchObject({ name: 'AuthorizationCallbackError' });
  await ready;
  await refused(url);
});

it('a call that is aborted while it waits for the person ends as an abort', async () => {
  await using signing = await signedOut();
  const abort = new AbortController();
  const call = settled(signing.handle.callTool({ name: 'read' }, undefined, { signal: abort.signal }));
  await until(() => signing.handle.status.authorization === 'required');
  await until(() => server.seen.refused.at(-1) === 'tools/call');
  abort.abort('enough');
  const { error } = await call;
  expect(error).not.toBeInstanceOf(UnauthorizedError);
  expect(String(error)).toContain('enough');
  await signing.handle.finishAuth(await callback(signing));
  expect(server.seen.ran).toEqual([]);
});

it('a host that has the callback at once may hand it on at once', async () => {
  let finished: Promise<void> | undefined;
  const provider = newProvider(({ searchParams }) => {
    // As a browser would that has the person's consent already.
    const callbackUrl = new URL(`${REDIRECT_URL}?code=wrong&iss=${encodeURIComponent(authorization.issuer)}`);
    callbackUrl.searchParams.set('state', searchParams.get('state') as string);
    finished = signing.handle.finishAuth(callbackUrl);
  });
  await using signing = host({ provider });
  await until(() => finished !== undefined);
  expect((await settled(finished as Promise<void>)).error).toMatchObject({ errorCode: 'invalid_grant' });
  expect(authorization.seen.requests.filter((what) => what === 'POST /token').length).toBeGreaterThan(0);
});

it('one login serves all connections of its provider, whichever of them it is finished on', async () => {
  await using one = host();
  await using two = host({ provider: one.provider });
  const calls = [one, two].map(({ handle }) => handle.callTool({ name: 'read' }));
  await until(() => one.told.length + two.told.length === 2);
  await until(() => one.handle.state === 'exhausted' && two.handle.state === 'exhausted');
  await two.handle.finishAuth(await callback(one));
  await Promise.all(calls);
  expect(one.provider.tabs).toHaveLength(1);
  expect(authorization.seen).toMatchObject({ exchanges: 1, refreshes: 0 });
});

it('while calls wait for a login, the connection can be closed, and made anew', async () => {
  await using signing = await signedOut();
  const first = settled(signing.handle.callTool({ name: 'read' }));
  await until(() => signing.provider.tabs.length === 2);
  const reconnected = signing.handle.reconnect();
  await until(() => signing.handle.state === 'exhausted');
  await signing.handle.finishAuth(await callback(signing));
  await reconnected;
  expect((await first).error).toBeUndefined();
  expect([signing.handle.generation, server.seen.ran.length]).toEqual([2, 1]);
  signing.provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
  const last = settled(signing.handle.callTool({ name: 'read' }));
  await until(() => signing.handle.status.authorization === 'required');
  await signing.handle.close();
  expect((await last).error).toMatchObject({ code: 'closed' });
});
