// Owned, over HTTP: a server that allows one session and refuses `initialize` while it lives.

import { describe, expect, it } from 'vitest';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import type { Fault } from '../support/faults.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, http, type Owned, own, settled, sse } from '../support/owned.ts';
import { until } from '../support/until.ts';

const STATUSES = [400, 409, 503] as const;
const MINUTE = 60_000;
/** Enough, at 10 to 50 ms each, for whatever a test waits for. */
const patient = { maxAttempts: 1_000, windowMs: MINUTE } as const;

const kill = { kind: 'cut', how: 'rst', forwarded: false } as const;

/** Answered on one new session, and the old one was ended. */
async function expectRecovered(owned: Owned, server: TestServer, generation = 2): Promise<void> {
  await callTool(owned, 'append', { key: 'next' }, MINUTE);
  expect(server.ledger.runs('next')).toBe(1);
  expect(owned.handle).toMatchObject({ state: 'ready', generation });
  expect(await server.sessions()).toBe(1);
  expect(owned.states()).not.toContain('exhausted');
}

/** The sessions that were ended with success, in order. */
const ended = ({ ledger }: TestServer) =>
  ledger.events('delete').flatMap(({ status, session }) => (status === 200 ? [session] : []));

const begun = ({ ledger }: TestServer) => ledger.events('initialize').map(({ session }) => session);

/** Probes and harmless calls are reset, so that the connection is lost while its session lives. */
async function loseByReset(owned: Owned, proxy: FaultProxy): Promise<void> {
  proxy.next('tools/list', kill).next('ping', kill, 2);
  await owned.handle.listTools();
}

describe.each(STATUSES)('refused with %i', (oneSession) => {
  it('reconnect(): DELETE first, once, and nothing is refused', async () => {
    await using server = await startServer({
      oneSession,
      faults: [{ on: 'DELETE', kind: 'delay', ms: 300 }],
    });
    await using owned = own(http(server.url));
    await owned.ready();
    await owned.handle.reconnect();
    await expectRecovered(owned, server);
    expect(ended(server)).toEqual([begun(server)[0]]);
    expect(server.ledger.count('refused')).toBe(0);
    await owned.handle.close();
    expect(ended(server)).toEqual(begun(server));
  });

  it('lost by resets: refused once, then DELETE, once, and again', async () => {
    await using server = await startServer({ oneSession });
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    proxy.next('DELETE', { kind: 'delay', ms: 600 });
    await loseByReset(owned, proxy);
    await expectRecovered(owned, server);
    expect(ended(server)).toEqual([begun(server)[0]]);
    expect([server.ledger.count('refused'), proxy.deletes]).toEqual([1, 1]);
  });

  it('its front was down for a while, so that no DELETE got through', async () => {
    await using server = await startServer({ oneSession });
    await using proxy = await startProxy(server.port);
    let failedDeletes = 0;
    const counting: typeof fetch = async (url, init) => {
      try {
        return await fetch(url, init);
      } catch (error) {
        if (init?.method === 'DELETE') failedDeletes++;
        throw error;
      }
    };
    await using owned = own({ kind: 'http', url: proxy.url(), fetch: counting }, { recovery: patient });
    await owned.ready();
    await proxy.refuse();
    const call = settled(callTool(owned, 'append', { key: 'waits' }, MINUTE));
    await until(() => failedDeletes > 0);
    await proxy.reopen();
    expect((await call).error).toBeUndefined();
    await expectRecovered(owned, server);
    expect(ended(server)).toEqual([begun(server)[0]]);
  });

  it('silent: DELETE, once, then initialize', async () => {
    const faults: Fault[] = [{ on: 'ping', kind: 'never', times: 'always' }];
    await using server = await startServer({ oneSession, faults });
    await using owned = own(http(server.url), {
      liveness: { heartbeatMs: 50, probeTimeoutMs: 100, missedProbes: 2, silenceMs: 300 },
      recovery: { recreate: 'eager' },
    });
    await owned.ready();
    await until(() => owned.handle.generation === 2);
    await server.clearFaults();
    expect(ended(server)[0]).toEqual(begun(server)[0]);
    expect(server.ledger.count('refused')).toBe(0);
  });

  it('silent, and the first DELETE is not answered: 1 s, refused, DELETE again', async () => {
    const faults: Fault[] = [
      { on: 'ping', kind: 'never', times: 2 },
      { on: 'DELETE', kind: 'never' },
    ];
    await using server = await startServer({ oneSession, faults });
    await using owned = own(http(server.url), {
      liveness: { heartbeatMs: 50, probeTimeoutMs: 100, missedProbes: 2, silenceMs: 100 },
      recovery: { recreate: 'eager' },
      timeouts: { closeTimeoutMs: 30_000 },
    });
    await owned.ready();
    const from = performance.now();
    await until(() => owned.handle.generation === 2);
    expect(performance.now() - from, 'not for closeTimeoutMs').toBeLessThan(15_000);
    await expectRecovered(owned, server);
    expect(ended(server)).toEqual([begun(server)[0]]);
    expect(server.ledger.count('refused')).toBe(1);
  });

  it('a handshake that failed after initialize: its session is ended before the next one', async () => {
    const faults: Fault[] = [{ on: 'notifications/initialized', kind: 'status', status: 500 }];
    await using server = await startServer({ oneSession, faults });
    await using owned = own(http(server.url));
    await expectRecovered(owned, server, 1);
    expect(ended(server)).toEqual([begun(server)[0]]);
    expect([server.ledger.count('refused'), begun(server).length]).toEqual([0, 2]);
  });

  it('a handshake that failed after initialize, and its DELETE too: refused, DELETE, and again', async () => {
    await using server = await startServer({ oneSession });
    await using proxy = await startProxy(server.port);
    proxy.next('notifications/initialized', kill).next('DELETE', kill);
    await using owned = own(http(proxy.url()));
    await expectRecovered(owned, server, 1);
    expect(ended(server)).toEqual([begun(server)[0]]);
    expect(server.ledger.count('refused')).toBe(1);
  });

  it('the answer to initialize was cut: nobody knows its session, and no refusal is permanent', async () => {
    await using server = await startServer({ oneSession });
    await using proxy = await startProxy(server.port);
    proxy.next('initialize', { kind: 'cut', how: 'rst', forwarded: true });
    await using owned = own(http(proxy.url()), { recovery: patient });
    await until(() => server.ledger.count('refused') >= 3);
    expect(owned.handle.state).toBe('connecting');
    await server.evict();
    await expectRecovered(owned, server, 1);
  });

  it('a DELETE that is refused: dialled again, never given up, and ended once that is possible', async () => {
    const faults: Fault[] = [{ on: 'DELETE', kind: 'status', status: 500, times: 'always' }];
    await using server = await startServer({ oneSession, faults });
    await using owned = own(http(server.url), { recovery: patient });
    await owned.ready();
    const reconnected = owned.handle.reconnect();
    await until(() => server.ledger.count('refused') >= 3);
    expect(owned.handle.state).toBe('recreating');
    await server.clearFaults();
    await reconnected;
    await expectRecovered(owned, server);
    expect(ended(server)).toEqual([begun(server)[0]]);
  });

  it('after a silence the calls in flight are settled, also while the old session cannot be ended', async () => {
    const faults: Fault[] = [
      { on: 'ping', kind: 'never', times: 'always' },
      { on: 'DELETE', kind: 'status', status: 500, times: 'always' },
    ];
    await using server = await startServer({ oneSession, faults });
    await using owned = own(http(server.url), {
      liveness: { heartbeatMs: 50, probeTimeoutMs: 200, missedProbes: 3, silenceMs: 100 },
      recovery: { ...patient, recreate: 'eager' },
    });
    await owned.ready();
    await until(() => owned.handle.status.suspectSince !== undefined);
    const call = settled(callTool(owned, 'hang', { key: 'x' }, MINUTE));
    const { error, ms } = await call;
    expect(error).toMatchObject({ code: 'outcome-unknown' });
    expect(ms).toBeLessThan(20_000);
    await server.clearFaults();
    await expectRecovered(owned, server);
  });

  it('a session that the server has forgotten: at once, no DELETE', async () => {
    await using server = await startServer({ oneSession });
    await using owned = own(http(server.url));
    await owned.ready();
    await server.evict();
    await expectRecovered(owned, server);
    await owned.handle.close();
    expect(server.ledger.events('delete').map(({ session }) => session)).toEqual([begun(server)[1]]);
    expect(server.ledger.count('refused')).toBe(0);
  });

  it('a second session that is not ours: a refusal is what it always was', async () => {
    await using server = await startServer({ oneSession });
    await using first = own(http(server.url));
    await first.ready();
    await using second = own(http(server.url), { recovery: { maxAttempts: 2, coolDownMs: MINUTE } });
    const { error } = await settled(callTool(second, 'append', { key: 'x' }, MINUTE));
    expect(error).toMatchObject({ why: oneSession === 400 ? 'permanent' : 'budget-spent' });
    expect(server.ledger.count('refused')).toBe(oneSession === 400 ? 1 : 2);
  });
});

describe.each(STATUSES)('legacy SSE, whose session is its stream, refused with %i', (oneSession) => {
  it('reconnect(): the stream ends first', async () => {
    await using server = await startServer({ transport: 'sse', oneSession });
    await using owned = own(sse(server.url));
    await owned.ready();
    await owned.handle.reconnect();
    await expectRecovered(owned, server);
    expect(server.ledger.count('refused')).toBe(0);
  });

  it('lost by resets: refused once, then the stream is ended', async () => {
    await using server = await startServer({ transport: 'sse', oneSession });
    await using proxy = await startProxy(server.port);
    await using owned = own(sse(proxy.url('/sse')));
    await owned.ready();
    await loseByReset(owned, proxy);
    await expectRecovered(owned, server);
    expect(server.ledger.count('refused')).toBe(1);
  });
});
