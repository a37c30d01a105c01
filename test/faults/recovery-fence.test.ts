// Calls that are being answered on the old generation complete there; reconnect() lets them, then ends its session.

import { expect, it } from 'vitest';
import { startServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

it('a sibling that is being answered on the old generation completes there', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 10_000 } });
  await owned.ready();
  const sibling = settled(callTool(owned, 'append', { key: 'sibling', holdMs: 1_000 }));
  await until(() => server.ledger.runs('sibling') === 1);
  await server.evict(undefined, { silent: true });
  await callTool(owned, 'append', { key: 'x' });
  expect(owned.handle.generation).toBe(2);
  expect(owned.handle.status.inFlight, 'of all generations').toBe(1);
  expectEnding(await sibling, 'answered');
  expect(server.ledger.runs('sibling')).toBe(1);
  expect(server.ledger.runs('x')).toBe(1);
  expect(server.ledger.initializes()).toBe(2);
});

it('one that takes longer than drainTimeoutMs is cut off by reconnect(), and knows that it may have run', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 100 } });
  await owned.ready();
  const sibling = settled(callTool(owned, 'append', { key: 'sibling', holdMs: 60_000 }, 60_000));
  await until(() => server.ledger.runs('sibling') === 1);
  await owned.handle.reconnect();
  await callTool(owned, 'append', { key: 'x' });
  const end = await sibling;
  expect(end.ms).toBeLessThan(10_000);
  expectEnding(end, { unknown: 'connection-closed' });
  expect(server.ledger.runs('sibling')).toBe(1);
  expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
});

it('a DELETE that is never answered holds reconnect() up for closeTimeoutMs, and no longer', async () => {
  await using server = await startServer({ faults: [{ on: 'DELETE', kind: 'never' }] });
  await using owned = own(http(server.url), { timeouts: { closeTimeoutMs: 400 } });
  await owned.ready();
  const begun = performance.now();
  await owned.handle.reconnect();
  expect(performance.now() - begun).toBeGreaterThanOrEqual(390);
  expect(performance.now() - begun).toBeLessThan(5_000);
  await callTool(owned, 'append', { key: 'x' });
  expect(server.ledger.runs('x')).toBe(1);
  expect(server.ledger.initializes()).toBe(2);
});

it('reconnect() ends the session that it leaves after its last call, and only then makes another', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 10_000 } });
  await owned.ready();
  const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 500 }));
  await until(() => server.ledger.runs('x') === 1);
  const [old] = await server.sessionIds();
  const reconnected = owned.handle.reconnect();
  expectEnding(await call, 'answered');
  expect(server.ledger.deletes(), 'not while it is in use').toBe(0);
  await reconnected;
  expect(server.ledger.events('delete')).toMatchObject([{ session: old, status: 200 }]);
  const order = server.ledger.events().map(({ event }) => event);
  expect(order.indexOf('delete')).toBeLessThan(order.lastIndexOf('initialize'));
  expect(await server.sessions()).toBe(1);
});
