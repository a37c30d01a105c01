// ready(): resolves when the connection is usable, and rejects with the reason when it will not be by itself.

import { describe, expect, it } from 'vitest';
import {
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  createSupervisor,
} from '../../src/index.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { http, own, settled } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { sharedServer } from '../support/shared-server.ts';
import { until } from '../support/until.ts';

const shared = sharedServer();
const clientInfo = { name: 'host', version: '1.0.0' };

describe('owned', () => {
  it('lazy: it is made, once for all who ask', async () => {
    const server = shared();
    await using owned = own(http(server.url), { lazy: true });
    expect(owned.handle.state).toBe('idle');
    await Promise.all([owned.handle.ready(), owned.handle.ready(), owned.handle.ready()]);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
    await owned.handle.ready();
    expect(server.ledger.initializes()).toBe(1);
  });

  it('connecting: waits for the handshake, over failures', async () => {
    await using server = await startServer({
      faults: [{ on: 'initialize', kind: 'status', status: 502, times: 2 }],
    });
    await using owned = own(http(server.url));
    await owned.handle.ready();
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(server.ledger.requests('initialize')).toBe(3);
  });

  it('lost: it is made anew, with no operation', async () => {
    const server = shared();
    await using owned = own(http(server.url), { liveness: { heartbeatMs: 20 } });
    await owned.handle.ready();
    await server.evict();
    await until(() => owned.handle.state === 'lost');
    await owned.handle.ready();
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
  });

  it('recreating: waits for it', async () => {
    const server = shared();
    await using owned = own(http(server.url));
    await owned.handle.ready();
    await server.fault({ on: 'initialize', kind: 'hold' });
    const reconnected = owned.handle.reconnect();
    await until(() => server.ledger.requests('initialize') === 2);
    const ready = owned.handle.ready();
    await server.release();
    await Promise.all([ready, reconnected]);
    expect(owned.handle.generation).toBe(2);
  });

  it('the budget is spent: rejects at once, and after the cool-down tries', async () => {
    await using server = await startServer();
    await using proxy = await startProxy(server.port);
    await proxy.refuse();
    await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 1, coolDownMs: 400 } });
    const first = await settled(owned.handle.ready());
    expect(first.error).toBeInstanceOf(ConnectionUnavailableError);
    expect(first.error).toMatchObject({ why: 'budget-spent', evidence: { cause: 'unreachable' } });
    expect(owned.handle.state).toBe('exhausted');
    const { error } = await settled(owned.handle.ready());
    expect(error).toMatchObject({ why: 'budget-spent' });
    expect(String(error), 'no operation was asked for').not.toContain('sent');
    await proxy.reopen();
    await until(async () => (await settled(owned.handle.ready())).error === undefined);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('the budget is spent while it waits: rejects with the last failure', async () => {
    await using owned = own(http(await refusingUrl()), { lazy: true, recovery: { maxAttempts: 3 } });
    const { error } = await settled(owned.handle.ready());
    expect(error).toMatchObject({ code: 'unavailable', why: 'budget-spent', cause: expect.any(Error) });
    expect(String(error)).toContain('could not be made');
  });

  it('closed: rejects, also who waits, and opens nothing', async () => {
    const server = shared();
    await using owned = own(http(server.url), { lazy: true });
    await server.fault({ on: 'initialize', kind: 'hold' });
    const waits = settled(owned.handle.ready());
    await until(() => server.ledger.requests('initialize') === 1);
    await owned.handle.close();
    expect((await waits).error).toBeInstanceOf(ConnectionClosedError);
    expect((await settled(owned.handle.ready())).error).toBeInstanceOf(ConnectionClosedError);
    await server.release();
    expect(server.ledger.requests('initialize')).toBe(1);
  });
});

describe('the signal', () => {
  it('aborted before: rejects with its reason, and opens nothing', async () => {
    const server = shared();
    await using owned = own(http(server.url), { lazy: true });
    const reason = new Error('never wanted');
    await expect(owned.handle.ready({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(owned.handle.state).toBe('idle');
    expect(server.ledger.requests('initialize')).toBe(0);
  });

  it('aborted while it waits: rejects with its reason, and the others wait on', async () => {
    const server = shared();
    await using owned = own(http(server.url), { lazy: true });
    await server.fault({ on: 'initialize', kind: 'hold' });
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const aborted = settled(owned.handle.ready({ signal: controller.signal }));
    const other = owned.handle.ready({ signal: new AbortController().signal });
    await until(() => server.ledger.requests('initialize') === 1);
    controller.abort(reason);
    expect((await aborted).error).toBe(reason);
    await server.release();
    await other;
    expect(owned.handle.generation).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
  });
});

describe('adopted', () => {
  it('ready: resolves, and asks the server nothing', async () => {
    const server = shared();
    await using raw = await connectV1(server);
    await using supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.adopt('mine', raw.client);
    const requests = server.ledger.count('request');
    await handle.ready();
    expect(server.ledger.count('request')).toBe(requests);
  });

  it('lost: rejects at once, also who asked before; after replace() it resolves', async () => {
    const server = shared();
    await using raw = await connectV1(server);
    await using next = await connectV1(server);
    await using supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.adopt('mine', raw.client);
    await raw.client.close();
    expect(handle.state).toBe('failed-ownership');
    const { error } = await settled(handle.ready());
    expect(error).toBeInstanceOf(CallerOwnedConnectionLostError);
    expect(error).toMatchObject({ code: 'ownership', evidence: { cause: 'connection-closed' } });
    await handle.replace(next.client);
    await handle.ready();
    expect(handle).toMatchObject({ state: 'ready', generation: 2 });
    await handle.close();
    expect((await settled(handle.ready())).error).toBeInstanceOf(ConnectionClosedError);
  });
});
