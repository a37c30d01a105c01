// What an authorization server can answer, or not answer, in the midst of a session and at a dial.
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { own, settled } from '../support/owned.ts';
import { authorization, provider, server } from '../support/signing-in.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

/** Requests to the token endpoint. */
let asked: number;
beforeEach(() => {
  asked = 0;
});

function connect() {
  const owned = own(
    { kind: 'http', url: server.url, authProvider: provider },
    { recovery: { coolDownMs: 20, initialBackoffMs: 5, maxBackoffMs: 20 } },
  );
  owned.handle.on('authorization-required', async (event) => {
    await owned.handle.finishAuth(await authorization.signIn(event.url));
  });
  return owned;
}

function tokenEndpoint(answer: (res: ServerResponse) => void): void {
  authorization.intercept = (req, res) => {
    if (req.url !== '/token') return false;
    asked++;
    answer(res);
    return true;
  };
}

const says =
  (status: number, body: unknown, headers = {}) =>
  (res: ServerResponse) =>
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const PASSING: [string, (res: ServerResponse) => void][] = [
  ['server_error', says(400, { error: 'server_error' })],
  ['temporarily_unavailable', says(400, { error: 'temporarily_unavailable' })],
  ['too_many_requests', says(429, { error: 'too_many_requests' })],
  ['HTTP 429', (res) => res.writeHead(429).end()],
  ['HTTP 500', (res) => res.writeHead(500).end('oops')],
  ['HTTP 503', (res) => res.writeHead(503).end()],
  ['HTTP 404 of a gateway', (res) => res.writeHead(404).end('<html>')],
  ['a cut', (res) => res.destroy()],
];

const FINAL = [
  'access_denied',
  'invalid_request',
  'invalid_scope',
  'unsupported_grant_type',
  'invalid_target',
  'method_not_allowed',
];

/** Ready, with a token that has expired. */
async function expired() {
  const owned = await connected();
  server.expire();
  return owned;
}

async function connected() {
  const owned = connect();
  await owned.handle.ready();
  await until(() => server.seen.admitted.includes('GET'));
  return owned;
}

describe('in the midst of a session', () => {
  it.each(PASSING)(
    '%s: the call fails, nobody has to sign in, and the next call is answered',
    async (_, answer) => {
      await using one = await expired();
      tokenEndpoint(answer);
      const { error } = await settled(one.handle.callTool({ name: 'read' }));
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toHaveProperty('evidence');
      authorization.intercept = undefined;
      await one.handle.callTool({ name: 'read' });
      expect([one.handle.generation, asked, provider.tabs.length]).toEqual([1, 1, 1]);
      expect(server.seen.admitted).not.toContain('ping');
    },
  );

  it.each([
    ['is not there', (res: ServerResponse) => res.destroy()],
    ['answers HTTP 503', (res: ServerResponse) => res.writeHead(503).end()],
    ['answers HTTP 429', (res: ServerResponse) => res.writeHead(429).end()],
  ])(
    'an authorization server that %s, and no refresh token: no page is opened that leads nowhere',
    async (_, answer) => {
      await using one = await connected();
      provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
      authorization.intercept = (_req, res) => {
        answer(res);
        return true;
      };
      const { error } = await settled(one.handle.callTool({ name: 'read' }, undefined, { timeout: 5_000 }));
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toHaveProperty('evidence');
      expect(provider.tabs).toHaveLength(1);
      authorization.intercept = undefined;
      await one.handle.callTool({ name: 'read' });
      expect([one.handle.generation, provider.tabs.length]).toEqual([1, 2]);
    },
  );

  it.each(FINAL)('%s: the call fails as in the SDK, and the session stays', async (code) => {
    await using one = await expired();
    tokenEndpoint(says(400, { error: code, error_description: 'no' }));
    const { error } = await settled(one.handle.callTool({ name: 'read' }));
    expect(error).toMatchObject({ errorCode: code, message: 'no' });
    authorization.intercept = undefined;
    await one.handle.callTool({ name: 'read' });
    expect([one.handle.generation, asked]).toEqual([1, 1]);
    expect(server.seen.admitted).not.toContain('ping');
  });

  it.each(['invalid_grant', 'invalid_client', 'unauthorized_client'])(
    '%s: one login follows, and the call is answered',
    async (code) => {
      await using one = await expired();
      const { invalidateCredentials } = provider;
      provider.invalidateCredentials = (what) =>
        invalidateCredentials.call(provider, what === 'all' ? 'tokens' : what);
      tokenEndpoint((res) => {
        authorization.intercept = undefined;
        says(400, { error: code })(res);
      });
      await Promise.all([1, 2, 3].map(() => one.handle.callTool({ name: 'read' })));
      expect([one.handle.generation, asked, provider.tabs.length]).toEqual([1, 1, 2]);
    },
  );
});

describe('at a dial', () => {
  /** With a token that has expired. */
  async function dial() {
    const first = await connected();
    await first.handle.close();
    server.expire();
    return connect;
  }

  it.each(PASSING)('%s: dialled again, nobody has to sign in', async (_, answer) => {
    const open = await dial();
    tokenEndpoint((res) => {
      if (asked === 3) authorization.intercept = undefined;
      answer(res);
    });
    await using one = open();
    await one.handle.callTool({ name: 'read' });
    expect([asked, provider.tabs.length, authorization.seen.refreshes]).toEqual([3, 1, 1]);
    expect(one.transitions.map(({ cause }) => cause)).not.toContain('unauthorized');
  });

  it.each(FINAL)('%s: told once, and not dialled again', async (code) => {
    const open = await dial();
    tokenEndpoint(says(400, { error: code }));
    await using one = open();
    const { error } = await settled(one.handle.callTool({ name: 'read' }));
    expect(error).toMatchObject({ code: 'unavailable', why: 'permanent', cause: { errorCode: code } });
    expect(String(error)).not.toContain('cool-down');
    expect(one.handle.status).toMatchObject({ state: 'exhausted', reason: 'unauthorized' });
    await settled(one.handle.callTool({ name: 'read' }));
    expect(asked).toBe(1);
    authorization.intercept = undefined;
    await one.handle.reconnect();
    expect(provider.tabs).toHaveLength(1);
  });

  it('waits as long as the authorization server asks, and no call waits in vain', async () => {
    const open = await dial();
    tokenEndpoint(says(503, { error: 'temporarily_unavailable' }, { 'retry-after': '30' }));
    await using one = open();
    const { error, ms } = await settled(one.handle.callTool({ name: 'read' }, undefined, { timeout: 5_000 }));
    expect(error).toMatchObject({ code: 'unavailable', why: 'retry-after' });
    expect(String(error)).toContain('30');
    expect(ms).toBeLessThan(4_000);
    expect(asked).toBe(1);
  });
});
