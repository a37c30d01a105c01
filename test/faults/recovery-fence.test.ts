// The old client is closed off the path: its siblings settle first, and a slow close delays nobody.

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

it('one that takes longer than drainTimeoutMs is cut off, and knows that it may have run', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 100 } });
  await owned.ready();
  const sibling = settled(callTool(owned, 'append', { key: 'sibling', holdMs: 60_000 }, 60_000));
  await until(() => server.ledger.runs('sibling') === 1);
  await server.evict(undefined, { silent: true });
  await callTool(owned, 'append', { key: 'x' });
  const end = await sibling;
  expect(end.ms).toBeLessThan(10_000);
  expectEnding(end, { unknown: 'connection-closed' });
  expect(server.ledger.runs('sibling')).toBe(1);
  expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
});

it('a DELETE that is never answered delays neither reconnect() nor the next call', async () => {
  await using server = await startServer({ faults: [{ on: 'DELETE', kind: 'never' }] });
  await using owned = own(http(server.url), { timeouts: { closeTimeoutMs: 4_000 } });
  await owned.ready();
  const begun = performance.now();
  await owned.handle.reconnect();
  await callTool(owned, 'append', { key: 'x' });
  expect(performance.now() - begun).toBeLessThan(3_000);
  expect(server.ledger.runs('x')).toBe(1);
  expect(server.ledger.initializes()).toBe(2);
});

it('reconnect() ends the session that it leaves, after its last call', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 10_000 } });
  await owned.ready();
  const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 500 }));
  await until(() => server.ledger.runs('x') === 1);
  const [old] = await server.sessionIds();
  await owned.handle.reconnect();
  expect(server.ledger.deletes(), 'not while it is in use').toBe(0);
  expectEnding(await call, 'answered');
  await until(() => server.ledger.deletes() === 1);
  expect(server.ledger.events('delete')).toMatchObject([{ session: old, status: 200 }]);
  expect(await server.sessions()).toBe(1);
});
