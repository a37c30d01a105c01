// Replacing what was supplied is its caller's own act, and the only one that brings the handle back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ConnectionClosedError,
  createSupervisor,
  NotConnectedError,
  type SuppliedClient,
} from '../../src/index.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import {
  callersClient,
  expectNothingUntrue,
  type LentHandle,
  lend,
  overheard,
  ownershipOf,
  rejection,
  type Supply,
} from '../support/lent.ts';
import { transportV1 } from '../support/raw-client.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const append = (key: string) => ({ name: 'append', arguments: { key } });
const clientInfo = { name: 'host', version: '1.0.0' };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each<Supply>(['v1 client', 'v2 client', 'v1 session', 'v2 session'])('%s', (supply) => {
  it('comes back with another one, and the old one stays untouched', async () => {
    await using old = await callersClient(supply, server);
    const { supervisor, said, listen } = overheard();
    const handle = lend(supervisor, 'mine', supply, old);
    listen(handle);
    const lost = old.sessionId;
    await server.evict(lost, { silent: true });
    await rejection(handle.ping());
    expect(handle.state).toBe('failed-ownership');
    await using next = await callersClient(supply, server);
    server.ledger.clear();

    await handle.replace(next.client as never);

    expect(handle).toMatchObject({ state: 'ready', generation: 2 });
    expect(handle.status).toMatchObject({ state: 'ready', generation: 2, action: undefined });
    expect(server.ledger.count('request')).toBe(0);
    await handle.callTool(append(`${supply}-back`));
    expect(server.ledger.events('run')).toMatchObject([{ key: `${supply}-back`, session: next.sessionId }]);
    expect(old.touched).toEqual([]);
    expect(next.touched).toEqual([]);
    expect(old.client.transport).toBe(old.transport);
    await supervisor.close();
    expect(next.touched).toEqual([]);
    expect(next.client.transport).toBe(next.transport);
    expect(server.ledger.initializes() + server.ledger.deletes()).toBe(0);
    // The caller replaced it; we made nothing anew.
    expect(said.some((line) => line.startsWith('"recreated"'))).toBe(false);
    expectNothingUntrue(said);
  });

  it('is replaced while it is well: the old one finishes what is in flight', async () => {
    await using old = await callersClient(supply, server);
    await using next = await callersClient(supply, server);
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, old);
    const key = `${supply}-slow`;
    const slow = handle.callTool({ name: 'append', arguments: { key, holdMs: 150 } });
    await until(() => server.ledger.runs(key) === 1);
    await handle.replace(next.client as never);
    expect(handle).toMatchObject({ state: 'ready', generation: 2 });
    await handle.callTool(append(`${key}-next`));
    await slow;
    expect(server.ledger.runs(key)).toBe(1);
    const bySession = (session: string | undefined) =>
      server.ledger.count('run', (r) => r.session === session);
    expect([bySession(old.sessionId), bySession(next.sessionId)]).toEqual([1, 1]);
    expect(old.touched).toEqual([]);
  });

  it('refuses one that is not connected, and nothing changes', async () => {
    await using old = await callersClient(supply, server);
    await using closed = await callersClient(supply, server);
    await closed.close();
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, old);
    const ownership = ownershipOf(supply);
    server.ledger.clear();
    const error = await rejection(handle.replace(closed.client as never));
    expect(error).toBeInstanceOf(NotConnectedError);
    expect(error).toMatchObject({ code: 'not-connected', connection: 'mine', ownership });
    for (const nothing of [{}, undefined, null, 'text', () => old.client, Promise.resolve(old.client)]) {
      expect(await rejection(handle.replace(nothing as never))).toMatchObject({
        code: 'invalid-options',
        connection: 'mine',
        path: ownership === 'caller-client' ? 'client' : 'session',
      });
    }
    expect(closed.touched).toEqual([]);
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    await handle.callTool(append(`${supply}-still`));
    expect(server.ledger.events('run')).toMatchObject([{ session: old.sessionId }]);

    await old.close();
    expect(handle.state).toBe('failed-ownership');
    expect(await rejection(handle.replace(closed.client as never))).toBeInstanceOf(NotConnectedError);
    expect(handle).toMatchObject({ state: 'failed-ownership', generation: 1 });
    expect(server.ledger.initializes()).toBe(0);
  });

  it('is refused after close()', async () => {
    await using old = await callersClient(supply, server);
    await using next = await callersClient(supply, server);
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, old);
    await handle.close();
    expect(await rejection(handle.replace(next.client as never))).toBeInstanceOf(ConnectionClosedError);
    expect(await rejection(handle.ping())).toBeInstanceOf(ConnectionClosedError);
    expect(handle).toMatchObject({ state: 'closed', generation: 1 });
    expect(next.touched).toEqual([]);
  });
});

it('takes the same object when its caller has connected it again', async () => {
  await using child = stdioServer();
  await using mine = await callersClient('v1 client', child);
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', mine.client as SuppliedClient);
  process.kill(child.server(), 'SIGKILL');
  await until(() => handle.state === 'failed-ownership');
  expect(await rejection(handle.replace(mine.client as SuppliedClient))).toBeInstanceOf(NotConnectedError);
  // The caller's own act; the note of it is expected.
  await mine.client.connect(transportV1(child) as never);
  expect(handle.state).toBe('failed-ownership');
  await handle.replace(mine.client as SuppliedClient);
  expect(handle).toMatchObject({ state: 'ready', generation: 2 });
  await handle.callTool(append('same'));
  expect(child.ledger.runs('same')).toBe(1);
  expect(child.ledger.count('spawn')).toBe(2);
  expect(mine.touched).toEqual(['connect']);
  process.kill(child.server(), 'SIGKILL');
  await until(() => handle.state === 'failed-ownership');
  expect(handle.generation).toBe(2);
});

it('pays no heed to late news of the old one', async () => {
  await using old = await callersClient('v1 client', server);
  await using next = await callersClient('v1 client', server);
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', old.client as SuppliedClient);
  await server.fault({ kind: 'hold', on: 'tools/call' });
  const late = rejection(handle.callTool(append('late')));
  await until(() => server.ledger.requests('tools/call') > 0);
  await handle.replace(next.client as SuppliedClient);
  await server.evict(old.sessionId, { silent: true });
  await server.release();
  // The old session answers 404 now, and the new one is well.
  expect(await late).toMatchObject({ code: 'ownership', generation: 1 });
  await old.close();
  expect(handle).toMatchObject({ state: 'ready', generation: 2 });
  await handle.ping();
});

it('is nothing that an owned connection has', async () => {
  await using next = await callersClient('v1 client', server);
  await using supervisor = createSupervisor({ clientInfo });
  const owned = supervisor.own('owned', { transport: { kind: 'http', url: server.url } });
  await owned.listTools();
  const error = await rejection((owned as unknown as LentHandle).replace(next.client as never));
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toMatch(/"owned" was made by the supervisor.*reconnect\(\)/);
  expect(owned).toMatchObject({ state: 'ready', generation: 1 });
  expect(next.touched).toEqual([]);
});

it('has no way to be reconnected', async () => {
  await using mine = await callersClient('v1 client', server);
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', mine.client as SuppliedClient) as unknown as {
    reconnect(): Promise<void>;
    state: string;
  };
  for (const state of ['ready', 'failed-ownership']) {
    expect(handle.state).toBe(state);
    const error = await rejection(handle.reconnect());
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/"mine" belongs to its caller.*replace\(\)/);
    if (state === 'ready') await mine.close();
  }
  expect(mine.touched).toEqual([]);
});
