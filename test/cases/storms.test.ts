// Failures that people reported: storms of reconnects, and budgets that did not count. By row id.
import { afterEach, expect, it, vi } from 'vitest';
import type { ConnectionContext } from '../../machines/connection.machine.ts';
import { runnableConnectionMachine } from '../../src/connection-actor.ts';
import { createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, sse, stdio } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();
afterEach(() => void vi.restoreAllMocks());

it('case 41: 50 callers with 10 missing tools each, on a lost session: one reconnect, and few words', async () => {
  const server = shared();
  let lines = 0;
  let details = 0;
  const count = () => void lines++;
  const detail = () => void details++;
  await using owned = own(http(server.url), {
    logger: { debug: detail, info: count, warn: count, error: count },
  });
  await owned.ready();
  await server.evict();
  const caller = async () => {
    for (let tool = 0; tool < 10; tool++) {
      expect(await callTool(owned, `missing${tool}`, {}), 'told that there is none').toMatchObject({
        isError: true,
      });
    }
  };
  await Promise.all(Array.from({ length: 50 }, caller));
  expect([server.ledger.initializes(), owned.handle.generation]).toEqual([2, 2]);
  expect(lines).toBeLessThan(10);
  // Each of the 50 that were stricken waits, is sent again and answered; of the other 450 there is nothing to say.
  expect(details).toBeLessThan(50 * 3 + 20);
});

it('case 43: a closed connection never reconnects, not even when the server comes back', async () => {
  const kinds = ['http', 'sse'] as const;
  const servers = await Promise.all(kinds.map((transport) => startServer({ transport })));
  try {
    for (const [n, server] of servers.entries()) {
      await using owned = own(n === 1 ? sse(server.url) : http(server.url), {
        recovery: { recreate: 'eager' },
      });
      await callTool(owned, 'append', { key: 'x' });
      await server.kill();
      // It is closed while it tries to reconnect.
    }
    for (const server of servers) server.ledger.clear();
    await Promise.all(servers.map((server) => server.start()));
    // The two seconds of the row, in which nothing may come.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    for (const { ledger } of servers) {
      expect(ledger.events().filter(({ event }) => event !== 'spawn')).toEqual([]);
    }
  } finally {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
});

it('case 44: twenty streams that are cut leave no old EventSource behind', async () => {
  await using server = await startServer({ transport: 'sse' });
  await using owned = own(sse(server.url), {
    recovery: { recreate: 'eager', maxAttempts: 100, initialBackoffMs: 1, maxBackoffMs: 1 },
  });
  await owned.ready();
  for (let cut = 1; cut <= 20; cut++) {
    await server.dropStreams();
    await until(() => owned.handle.generation === cut + 1);
  }
  await until(async () => (await server.sessions()) === 1);
  expect(await server.streams()).toBe(1);
  expect(server.ledger.count('stream'), 'one for each generation, none of an EventSource’s own').toBe(21);
});

it('case 46: a server that never connects is spawned no more often than its budget', async () => {
  await using server = stdioServer({ faults: [{ on: 'initialize', kind: 'exit', times: 'always' }] });
  await using owned = own(stdio(server), {
    recovery: { maxAttempts: 3, initialBackoffMs: 1, maxBackoffMs: 1, coolDownMs: 60_000 },
  });
  for (let round = 0; round < 3; round++) {
    const calls = Array.from({ length: 10 }, () => settled(callTool(owned, 'append', { key: 'x' })));
    for (const { error } of await Promise.all(calls)) {
      expect(error).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('could not be made'),
      });
    }
  }
  expect(server.ledger.count('spawn')).toBe(3);
  expect(owned.handle.status).toMatchObject({
    state: 'exhausted',
    action: expect.stringContaining('reconnect()'),
  });
});

it('case 47: one 502 on initialize, then it connects', async () => {
  await using server = await startServer({ faults: [{ on: 'initialize', kind: 'status', status: 502 }] });
  await using owned = own(http(server.url));
  await callTool(owned, 'append', { key: 'x' });
  expect([server.ledger.requests('initialize'), server.ledger.runs('x')]).toEqual([2, 1]);
  expect(owned.handle.generation, 'a failed handshake has no generation').toBe(1);
});

it('case 49: half of a delay is random, and none is shorter than the server asked', () => {
  const { backoff } = runnableConnectionMachine.implementations.delays as unknown as {
    backoff: (facts: { context: Partial<ConnectionContext> }) => number;
  };
  const settings = {
    spawns: true,
    initialBackoffMs: 100,
    maxBackoffMs: 10_000,
  } as ConnectionContext['settings'];
  const context = { settings, attempts: 3, retryAfterMs: 0 };
  const random = vi.spyOn(Math, 'random');
  const delays = [0, 0.5, 0.75].map((value) => {
    random.mockReturnValue(value);
    return backoff({ context });
  });
  expect(delays).toEqual([200, 300, 350]);
  expect(backoff({ context: { ...context, retryAfterMs: 5_000 } })).toBeGreaterThanOrEqual(5_000);
  random.mockReturnValue(0.999_999);
  expect(backoff({ context: { ...context, attempts: 60 } })).toBeLessThanOrEqual(10_000);
});

it('case 50: a server that fails each handshake is dialled as often as configured', async () => {
  await using server = await startServer({
    faults: [{ on: 'initialize', kind: 'status', status: 502, times: 'always' }],
  });
  await using owned = own(http(server.url), { recovery: { maxAttempts: 4, initialBackoffMs: 1 } });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(server.ledger.requests('initialize')).toBe(4);
});

it('case 50: a failed connect that is returned as a value counts as one', async () => {
  await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  let dials = 0;
  const handle = supervisor.own('files', {
    connect: (async () => {
      dials++;
      return { success: false, error: 'refused' };
    }) as never,
    recovery: { maxAttempts: 3, initialBackoffMs: 1, maxBackoffMs: 1 },
  });
  await expect(handle.ping()).rejects.toMatchObject({ code: 'unavailable' });
  expect(dials).toBe(3);
});
