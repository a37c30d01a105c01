// Expired tokens, of a real authorization server whose refresh tokens rotate: one flow at a time for one provider.
import { expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { own, settled } from '../support/owned.ts';
import { protectedServer } from '../support/protected-server.ts';
import { authorization, provider, server } from '../support/signing-in.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

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

/** Signed in and ready. */
async function connected(url?: URL) {
  const owned = connect(url);
  await owned.handle.ready();
  return owned;
}

const read = ({ handle }: ReturnType<typeof connect>) => handle.callTool({ name: 'read' });
const five = (owned: ReturnType<typeof connect>) => Array.from({ length: 5 }, () => read(owned));

it('lists beside calls, and a connection that is only being made, share it too', async () => {
  await using one = await connected();
  server.expire();
  await using two = connect();
  const { handle } = one;
  await Promise.all([...five(one), handle.listTools(), handle.ping(), two.handle.ready(), ...five(two)]);
  expect(authorization.seen).toMatchObject({ refreshes: 1, refused: 0, exchanges: 1 });
});

it('one provider with two URLs: one flow after the other, and no login', async () => {
  await using one = await connected();
  await using two = await connected(server.otherUrl);
  server.expire();
  await Promise.all([...five(one), ...five(two)]);
  expect(authorization.seen).toMatchObject({ refused: 0, exchanges: 1 });
  // A third one is for a call that was refused after both.
  expect([2, 3]).toContain(authorization.seen.refreshes);
  expect([server.seen.ran.length, provider.tabs.length]).toEqual([10, 1]);
});

it('a refresh token that is for another server does not hide that the person has to be asked', async () => {
  await using other = await protectedServer(authorization);
  await using one = await connected();
  await using two = await connected(other.url);
  server.expire();
  other.expire();
  await Promise.all([...five(one), ...five(two)]);
  expect([server.seen.ran.length, other.seen.ran.length]).toEqual([5, 5]);
  expect(provider.tabs.length).toBeGreaterThan(1);
});

it('a request that comes late with the old token takes the new one', async () => {
  await using one = await connected();
  server.expire();
  let release = () => {};
  let held = 0;
  server.intercept = (_req, res, body) => {
    if (!body.includes('"late"') || held++ > 0) return false;
    release = () => void res.writeHead(401).end();
    return true;
  };
  const late = one.handle.callTool({ name: 'read', arguments: { late: 'late' } });
  await until(() => held === 1);
  await read(one);
  release();
  await late;
  expect(authorization.seen).toMatchObject({ refreshes: 1, refused: 0 });
});

it('a refresh that fails, fails for all that wait for it, and harms no session', async () => {
  await using one = await connected();
  server.expire();
  let asked = 0;
  authorization.intercept = (req, res) => {
    if (req.url !== '/token') return false;
    asked++;
    res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"access_denied"}');
    return true;
  };
  const failures = await Promise.all(five(one).map(settled));
  for (const { error } of failures) expect(error).toMatchObject({ errorCode: 'access_denied' });
  expect([asked, provider.tabs.length]).toEqual([1, 1]);
  authorization.intercept = undefined;
  await read(one);
  expect([one.handle.generation, one.states()]).toEqual([1, ['exhausted', 'connecting', 'ready']]);
});

it('a probe neither refreshes nor begins a login: any answer is a sign of life', async () => {
  await using owned = own(
    { kind: 'http', url: server.url, authProvider: provider },
    { liveness: { heartbeatMs: 20 } },
  );
  owned.handle.on('authorization-required', async (event) => {
    await owned.handle.finishAuth(await authorization.signIn(event.url));
  });
  await owned.handle.ready();
  await until(() => server.seen.admitted.includes('GET'));
  server.expire();
  await until(() => server.seen.refused.filter((what) => what === 'ping').length > 3);
  expect(authorization.seen).toMatchObject({ refreshes: 0 });
  expect([owned.handle.state, provider.tabs.length]).toEqual(['ready', 1]);
  await owned.handle.ping();
  expect(authorization.seen).toMatchObject({ refreshes: 1 });
});

it('a GET that is refused with every token is not asked again', async () => {
  let gets = 0;
  server.intercept = (req, res) => {
    if (req.method !== 'GET' || req.url !== '/mcp') return false;
    gets++;
    res.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    return true;
  };
  await using one = await connected();
  await until(() => gets === 2);
  await read(one);
  await read(one);
  expect(authorization.seen.refreshes).toBeLessThanOrEqual(1);
  expect([gets, server.seen.admitted.includes('ping'), one.handle.generation]).toEqual([2, false, 1]);
});

it('a stream that is refused once the token has expired is no stream any more', async () => {
  let gets = 0;
  let end = () => {};
  server.intercept = (req, res) => {
    if (req.method !== 'GET' || req.url !== '/mcp') return false;
    if (gets++ > 0) res.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    else {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 10\n\n');
      end = () => void res.end();
    }
    return true;
  };
  await using one = await connected();
  await until(() => gets === 1);
  end();
  await until(() => gets >= 3);
  for (let call = 0; call < 5; call++) await read(one);
  expect([gets, authorization.seen.refreshes, one.handle.generation]).toEqual([3, 1, 1]);
});

it.each([
  [404, false],
  [405, false],
])('HTTP %i to the first GET is no doubt', async (status, doubted) => {
  let gets = 0;
  server.intercept = (req, res) => {
    if (req.method !== 'GET' || req.url !== '/mcp') return false;
    gets++;
    res.writeHead(status).end();
    return true;
  };
  await using one = await connected();
  await until(() => gets === 1);
  await read(one);
  await read(one);
  expect(server.seen.admitted.includes('ping')).toBe(doubted);
});

it('close() with an expired token ends the session, with one refresh', async () => {
  const one = await connected();
  server.expire();
  expect(server.seen.sessions.size).toBe(1);
  await one.handle.close();
  expect([server.seen.sessions.size, authorization.seen.refreshes, provider.tabs.length]).toEqual([0, 1, 1]);
});

it('close() never begins a login', async () => {
  const one = await connected();
  provider.saveTokens({ access_token: 'gone', token_type: 'Bearer' });
  const { length } = authorization.seen.requests;
  await one.handle.close();
  expect([provider.tabs.length, authorization.seen.requests.length]).toEqual([1, length]);
});

it("the authorization server sees nothing of the transport's headers", async () => {
  const headers = { 'x-secret': 'for the MCP server' };
  await using owned = own({ kind: 'http', url: server.url, authProvider: provider, headers });
  owned.handle.on('authorization-required', async (event) => {
    await owned.handle.finishAuth(await authorization.signIn(event.url));
  });
  const seen: unknown[] = [];
  server.intercept = (req) => {
    if (req.url === '/mcp') seen.push(req.headers['x-secret']);
    else expect(req.headers).not.toHaveProperty('x-secret');
    return false;
  };
  await owned.handle.ready();
  server.expire();
  await read(owned as never);
  for (const found of authorization.seen.headers) expect(found).not.toHaveProperty('x-secret');
  expect(new Set(seen)).toEqual(new Set(['for the MCP server']));
  expect(authorization.seen.headers.length).toBeGreaterThan(2);
});
