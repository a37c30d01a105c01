// A gateway that fails again and again, for the probe too: one new session is tried, and the next is to be earned.
import { expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { type FaultProxy, type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import { callTool, http, type Owned, own, settled } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

const BAD_GATEWAY: ProxyAction = {
  kind: 'answer',
  status: 502,
  forwarded: false,
  body: '<h1>Bad Gateway</h1>',
};

async function failing(owned: Owned, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const { error } = await settled(callTool(owned, 'append', { key: 'failing' }));
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'gateway-error' } });
  }
}

/** The probe that its calls led to has ended. */
async function probed(proxy: FaultProxy, { handle }: Owned, pings: number): Promise<void> {
  await until(() => proxy.posts('ping') === pings && handle.status.suspectSince === undefined, {
    what: `probe ${pings}`,
  });
}

it('exactly one new session, and no second one before an operation was answered', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()));
  await owned.ready();
  // The gateway lets a handshake through, and nothing else.
  proxy.always('tools/call', BAD_GATEWAY).always('ping', BAD_GATEWAY);
  await failing(owned, 2);
  expect([proxy.posts('ping'), owned.handle.state]).toEqual([0, 'ready']);
  await failing(owned, 1);
  await until(() => owned.handle.state === 'lost', { what: 'the loss' });
  expect(owned.transitions.at(-1)).toEqual({ to: 'lost', cause: 'gateway-error' });
  expect([proxy.posts('ping'), server.ledger.initializes()]).toEqual([1, 1]);

  await failing(owned, 3);
  await probed(proxy, owned, 2);
  await failing(owned, 3);
  expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 2 });
  expect([server.ledger.initializes(), server.ledger.runs('failing')]).toEqual([2, 0]);

  proxy.reset();
  await callTool(owned, 'append', { key: 'answered' });
  const pings = proxy.posts('ping');
  proxy.always('tools/call', BAD_GATEWAY).always('ping', BAD_GATEWAY);
  await failing(owned, 3);
  await until(() => owned.handle.state === 'lost', { what: 'the second loss' });
  expect(proxy.posts('ping')).toBe(pings + 1);
  proxy.reset();
  await callTool(owned, 'append', { key: 'last' });
  expect([owned.handle.generation, server.ledger.initializes()]).toEqual([3, 3]);
  expect([server.ledger.runs('answered'), server.ledger.runs('last')]).toEqual([1, 1]);
});

it('none while the ping is answered', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()));
  await owned.ready();
  proxy.always('tools/call', BAD_GATEWAY);
  await failing(owned, 3);
  await probed(proxy, owned, 1);
  await failing(owned, 3);
  await probed(proxy, owned, 2);
  expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
  expect(server.ledger.initializes()).toBe(1);
});

it('none where answers come in between', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()));
  await owned.ready();
  for (let round = 0; round < 4; round++) {
    proxy.next('tools/call', BAD_GATEWAY, 2);
    await failing(owned, 2);
    await callTool(owned, 'append', { key: `${round}` });
  }
  expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1 });
  expect([proxy.posts('ping'), server.ledger.initializes()]).toEqual([0, 1]);
});

it('a gateway that fails for the handshake too: dialled again, and each call is sent at most once', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 100 } });
  await owned.ready();
  proxy.always('*', BAD_GATEWAY);
  await failing(owned, 3);
  await until(() => owned.handle.state === 'lost');
  const call = settled(callTool(owned, 'append', { key: 'waits' }));
  await until(() => proxy.posts('initialize') >= 3);
  expect(owned.handle.state).toBe('recreating');
  proxy.reset();
  expect((await call).error).toBeUndefined();
  expect([server.ledger.runs('waits'), server.ledger.initializes(), owned.handle.generation]).toEqual([
    1, 2, 2,
  ]);
});
