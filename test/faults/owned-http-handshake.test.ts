// Owned, Streamable HTTP: handshakes that fail, hang or are aborted end at our own limit and leave nothing open.

import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import type { Fault } from '../support/faults.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const once = { maxAttempts: 1, coolDownMs: MINUTE } as const;

describe('a handshake that does not succeed', () => {
  const faults: [string, string, Fault][] = [
    ['initialize is never answered', 'timeout', { on: 'initialize', kind: 'never' }],
    ['initialize is answered with HTML', 'malformed-answer', { on: 'initialize', kind: 'html' }],
    [
      'initialize is answered with broken JSON',
      'malformed-answer',
      { on: 'initialize', kind: 'broken-json' },
    ],
    [
      'initialize is answered with another version',
      'incompatible',
      { on: 'initialize', kind: 'wrong-version' },
    ],
    ['initialize is answered with 202', 'answer-lost', { on: 'initialize', kind: 'accept202' }],
    [
      'initialize is answered with a stream that ends',
      'answer-lost',
      { on: 'initialize', kind: 'clean-eof' },
    ],
    ['initialize is reset', 'request-cut', { on: 'initialize', kind: 'reset' }],
    ['initialized is never answered', 'timeout', { on: 'notifications/initialized', kind: 'never' }],
    [
      'initialized is refused',
      'gateway-error',
      { on: 'notifications/initialized', kind: 'status', status: 500 },
    ],
  ];
  it.each(faults)('%s: %s', async (_name, cause, fault) => {
    await using server = await startServer({ faults: [{ ...fault, times: 'always' }] });
    await using owned = own(http(server.url), { recovery: once, timeouts: { connectTimeoutMs: 1_500 } });
    const end = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
    expect(end.error).toMatchObject({
      name: 'ConnectionUnavailableError',
      evidence: { execution: 'none', cause },
    });
    expect(end.ms).toBeLessThan(10_000);
    expect(owned.handle).toMatchObject({ state: 'exhausted', generation: 0 });
    expect(server.ledger.requests('initialize')).toBe(1);
    expect(owned.states()).not.toContain('ready');
    // What it had opened on the server by then is ended.
    await until(async () => (await server.sessions()) === 0, { what: 'the end of the session' });
    await until(async () => (await server.streams()) === 0);

    await server.clearFaults();
    await owned.handle.reconnect();
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('x')).toBe(0);
    expect(server.ledger.runs('later')).toBe(1);
    expect(owned.handle.generation).toBe(1);
  });

  it('no such host, no TLS, not HTTP: the call did not run, and the error says why', async () => {
    const babbler = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('220 smtp.example ESMTP\r\n'));
    });
    await new Promise<void>((resolve) => babbler.listen(0, '127.0.0.1', resolve));
    const { port } = babbler.address() as { port: number };
    const closed = await startProxy(port);
    const refused = closed.url();
    await closed.refuse();
    const urls: [string, string][] = [
      ['http://no-such-host.invalid/mcp', 'unreachable'],
      [refused.href, 'unreachable'],
      [`https://127.0.0.1:${port}/mcp`, 'unreachable'],
      [`http://127.0.0.1:${port}/mcp`, 'request-cut'],
    ];
    for (const [url, cause] of urls) {
      await using owned = own(http(new URL(url)), { recovery: once });
      const { error } = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
      expect(error, url).toMatchObject({ code: 'unavailable', evidence: { execution: 'none', cause } });
    }
    await new Promise((resolve) => babbler.close(resolve));
  });

  it('three callers at once make one', async () => {
    await using server = await startServer();
    await using owned = own(http(server.url), { lazy: true });
    expect(owned.handle.state).toBe('idle');
    await Promise.all(['a', 'b', 'c'].map((key) => callTool(owned, 'append', { key })));
    expect(server.ledger.initializes()).toBe(1);
    expect(server.ledger.runs()).toBe(3);
  });
});

describe('close() in the middle of a handshake', () => {
  it('all who wait learn it, and what finishes too late is not used', async () => {
    await using server = await startServer({ faults: [{ on: 'initialize', kind: 'hold' }] });
    await using owned = own(http(server.url));
    await until(() => server.ledger.requests('initialize') === 1);
    const calls = [1, 2, 3].map((n) => settled(callTool(owned, 'append', { key: `${n}` }, MINUTE)));
    await owned.handle.close();
    for (const { error } of await Promise.all(calls)) {
      expect(error).toMatchObject({ name: 'ConnectionClosedError' });
    }
    await server.release();
    await until(() => server.ledger.initializes() === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(server.ledger.count('initialized')).toBe(0);
    expect(server.ledger.runs()).toBe(0);
    expect(await server.streams()).toBe(0);
    expect(owned.handle).toMatchObject({ state: 'closed', generation: 0 });
  });

  it('after initialize was answered: its session is ended', async () => {
    await using server = await startServer({ faults: [{ on: 'notifications/initialized', kind: 'hold' }] });
    await using owned = own(http(server.url));
    await until(() => server.ledger.requests('notifications/initialized') === 1);
    expect(await server.sessions()).toBe(1);
    await owned.handle.close();
    expect(server.ledger.deletes()).toBe(1);
    expect(await server.sessions()).toBe(0);
    expect(owned.handle.generation).toBe(0);
  });
});
