// The host's process sleeps and wakes up: what it was connected to may be gone, and no packet has said so.
import { describe, expect, it, vi } from 'vitest';
import { startServer, type TestServer } from '../support/http-server.ts';
import { type SleepingHost, startHost } from '../support/sleeping-host.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { startRelay } from '../support/tcp-relay.ts';
import { until } from '../support/until.ts';

// Each test starts a host and lets it sleep.
vi.setConfig({ testTimeout: 60_000 });

const liveness = { probeTimeoutMs: 1_500, silenceMs: 60_000, busySilenceMs: 60_000 };

const ownHttp = (url: URL) => ({
  transport: { kind: 'http', url: url.href } as const,
  timeouts: { connectTimeoutMs: 3_000 },
  recovery: { initialBackoffMs: 10, maxBackoffMs: 50 },
});

/** What came over the wire since the ledger was cleared. */
function methods(server: TestServer): unknown[] {
  return server.ledger.events('request').map(({ method }) => method);
}

const IGNORED = 'notifications/cancelled';
const told = (server: TestServer) => methods(server).filter((method) => method !== IGNORED);

async function expectStayed(host: SleepingHost): Promise<void> {
  const { state, generation, states } = await host.status();
  expect([state, generation]).toEqual(['ready', 1]);
  expect(states).not.toContain('lost');
}

describe.concurrent('before the next call', () => {
  it('one probe, for all calls that come together; none before those that come later', async () => {
    await using server = await startServer();
    await using host = await startHost({ own: ownHttp(server.url), liveness });
    server.ledger.clear();
    await host.sleep();
    const keys = ['a', 'b', 'c'];
    const errors = await Promise.all(keys.map((key) => host.call('append', { key })));
    expect(errors).toEqual([undefined, undefined, undefined]);
    expect(told(server)).toEqual(['ping', 'tools/call', 'tools/call', 'tools/call']);
    await host.call('append', { key: 'd' });
    expect(server.ledger.requests('ping')).toBe(1);
    expect([...keys, 'd'].map((key) => server.ledger.runs(key))).toEqual([1, 1, 1, 1]);
    await expectStayed(host);
  });

  it('over stdio too', async () => {
    await using server = stdioServer();
    const { command, args } = server;
    await using host = await startHost({ own: { transport: { kind: 'stdio', command, args } }, liveness });
    server.ledger.clear();
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(server.ledger.events('request').map(({ method }) => method)).toEqual(['ping', 'tools/call']);
    await expectStayed(host);
  });

  it('a second one, if the first is not answered', async () => {
    await using server = await startServer();
    await using host = await startHost({ own: ownHttp(server.url), liveness });
    await server.fault({ on: 'ping', kind: 'never' });
    server.ledger.clear();
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(told(server)).toEqual(['ping', 'ping', 'tools/call']);
    await expectStayed(host);
  });

  it('a second one over a new socket: where only the old ones are dead, the session goes on', async () => {
    await using server = await startServer();
    await using relay = await startRelay(server.port);
    const url = new URL(`http://127.0.0.1:${relay.port}/mcp`);
    await using host = await startHost({ own: ownHttp(url), liveness });
    server.ledger.clear();
    relay.swallow('open');
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(told(server)).toEqual(['ping', 'tools/call']);
    await expectStayed(host);
  });

  it('both are swallowed: lost, and the call goes over a new session', async () => {
    await using server = await startServer();
    await using relay = await startRelay(server.port);
    const url = new URL(`http://127.0.0.1:${relay.port}/mcp`);
    await using host = await startHost({ own: ownHttp(url), liveness });
    server.ledger.clear();
    relay.swallow('all');
    await host.sleep();
    const call = host.call('append', { key: 'x' });
    const { states } = await host.untilStatus('the loss', (status) => status.states.includes('lost'));
    expect(states).toContain('lost');
    relay.relay();
    expect(await call).toBeUndefined();
    expect([server.ledger.initializes(), server.ledger.runs('x')]).toEqual([1, 1]);
    expect((await host.status()).generation).toBe(2);
  });

  it('the server is dead: found by the probe, and the call is sent once to the next', async () => {
    await using server = await startServer();
    await using host = await startHost({ own: ownHttp(server.url), liveness });
    await Promise.all([host.sleep(), server.restart()]);
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(server.ledger.runs('x')).toBe(1);
    expect((await host.status()).generation).toBe(2);
  });
});

describe.concurrent('no probe is answered, and the call goes all the same', () => {
  const mute = { on: 'ping', kind: 'never', times: 'always' } as const;

  it('while another is in flight', async () => {
    await using server = await startServer();
    await using host = await startHost({ own: ownHttp(server.url), liveness });
    await server.fault(mute);
    void host.call('hang', { key: 'slow' }, 60_000);
    await until(() => server.ledger.runs('slow') === 1);
    server.ledger.clear();
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(told(server)).toEqual(['ping', 'ping', 'tools/call']);
    await expectStayed(host);
  });

  it('while something is outstanding', async () => {
    await using server = await startServer();
    await using host = await startHost({ own: ownHttp(server.url), liveness });
    await server.fault(mute);
    expect(await host.call('hang', { key: 'given up' }, 300)).toContain('timed out');
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(server.ledger.runs('x')).toBe(1);
    await expectStayed(host);
  });

  it.each(['v1', 'v2'] as const)('on an adopted connection, %s', async (sdk) => {
    await using server = await startServer();
    await using host = await startHost({ adopt: { url: server.url.href, sdk }, liveness });
    await server.fault(mute);
    server.ledger.clear();
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(told(server)).toEqual(['ping', 'ping', 'tools/call']);
    expect([server.ledger.deletes(), server.ledger.runs('x')]).toEqual([0, 1]);
    await expectStayed(host);
  });
});

describe.concurrent('with heartbeats', () => {
  const beating = { ...liveness, heartbeatMs: 300 };

  it('a heartbeat that is sent on waking up does not stand for the probe', async () => {
    await using server = await startServer();
    await using relay = await startRelay(server.port);
    const url = new URL(`http://127.0.0.1:${relay.port}/mcp`);
    await using host = await startHost({ own: ownHttp(url), liveness: beating });
    relay.swallow('all');
    await host.sleep();
    const call = host.call('append', { key: 'x' });
    await host.untilStatus('the loss', (status) => status.states.includes('lost'));
    relay.relay();
    expect(await call).toBeUndefined();
    expect(server.ledger.runs('x')).toBe(1);
    expect((await host.status()).generation).toBe(2);
  });

  it('one that was under way before the sleep does not either', async () => {
    await using server = await startServer();
    const patient = { ...beating, probeTimeoutMs: 40_000 };
    await using host = await startHost({ own: ownHttp(server.url), liveness: patient });
    await server.fault({ on: 'ping', kind: 'never' });
    await until(() => server.ledger.count('fault') === 1);
    server.ledger.clear();
    await host.sleep();
    expect(await host.call('append', { key: 'x' }), 'not after 40 s').toBeUndefined();
    expect(told(server).slice(0, 2)).toEqual(['ping', 'tools/call']);
    await expectStayed(host);
  });

  it('a server that is well stays', async () => {
    await using server = await startServer();
    await using host = await startHost({ own: ownHttp(server.url), liveness: beating });
    await host.sleep();
    expect(await host.call('append', { key: 'x' })).toBeUndefined();
    expect(server.ledger.runs('x')).toBe(1);
    await expectStayed(host);
  });
});
