// Bad input: a clear error at once, with the option's path and what was expected, and nothing half-done.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSupervisor, InvalidOptionsError, type Supervisor } from '../../src/index.ts';
import { ownSettings } from '../../src/validation.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';
import {
  SECRET,
  WRONG_FOR_ADOPT,
  WRONG_FOR_SUPERVISOR,
  WRONG_NUMBERS,
  WRONG_SHAPES,
  WRONG_TRANSPORTS,
} from './invalid-options.ts';

expectNoCrashes();

const clientInfo = { name: 'host', version: '1.0.0' };
let supervisor: Supervisor;
let connections = 0;
let listener: Server;
let url: string;

beforeAll(async () => {
  supervisor = createSupervisor({ clientInfo });
  listener = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
});
afterAll(async () => {
  await supervisor.close();
  listener.close();
});

/** It must throw at once, name the path and what was expected, and nothing of what was found. */
function expectRefused(act: () => unknown, path: string, expected: string): void {
  let error: unknown;
  try {
    act();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error).toMatchObject({ name: 'InvalidOptionsError', code: 'invalid-options', path });
  const { message, stack } = error as Error;
  expect(message).toContain(`${path}: `);
  expect(message).toContain(expected);
  expect(`${message} ${JSON.stringify(error)} ${stack}`, 'what was found').not.toContain(SECRET);
}

const own = (name: unknown, options: unknown) => supervisor.own(name as string, options as never);

describe('own', () => {
  it.each([...WRONG_SHAPES, ...WRONG_TRANSPORTS])('%s', (_what, options, path, expected) => {
    expectRefused(() => own('files', options), path, expected);
    expect(supervisor.connections.size).toBe(0);
  });

  it('durations and counts', () => {
    for (const [what, options, path, expected] of WRONG_NUMBERS) {
      expectRefused(() => own('files', options), path, expected);
      expect(supervisor.connections.size, what).toBe(0);
    }
  });

  it('missedProbes, and its former name', () => {
    const settingsOf = (liveness: object) =>
      ownSettings('files', { transport: { kind: 'http', url }, liveness });
    const missed = [
      {},
      { missedProbes: 5 },
      { missedHeartbeats: 4 },
      { missedProbes: 5, missedHeartbeats: 4 },
    ];
    expect(missed.map((liveness) => settingsOf(liveness).liveness.missedProbes)).toEqual([3, 5, 4, 5]);
    expect(settingsOf({}).liveness).toEqual({
      probeTimeoutMs: 5_000,
      missedProbes: 3,
      silenceMs: 30_000,
      busySilenceMs: 120_000,
    });
  });

  it.each([undefined, null, '', '   ', '\t', 5, {}, []])('name: %j', (name) => {
    expectRefused(() => own(name, { transport: { kind: 'http', url } }), 'name', 'not empty');
    expectRefused(() => supervisor.adopt(name as string, {} as never), 'name', 'not empty');
    expect(supervisor.connections.size).toBe(0);
  });

  it('a name that is taken; the connection that has it is untouched', async () => {
    const lazy = { transport: { kind: 'http', url }, lazy: true } as const;
    const first = supervisor.own('files', lazy);
    expectRefused(() => own('files', lazy), 'name', 'exists');
    expectRefused(() => supervisor.adopt('files', {} as never), 'name', 'exists');
    expectRefused(() => supervisor.adoptSession('files', {} as never), 'name', 'exists');
    expect(supervisor.connections.get('files')).toBe(first);
    expect(first.state).toBe('idle');
    await first.close();
    await supervisor.own('files', lazy).close();
  });
});

it('nothing half-done: no socket was opened, no child was started', async () => {
  await using server = stdioServer();
  const stdio = { kind: 'stdio', command: server.command, args: server.args };
  for (const options of [
    { transport: { kind: 'http', url }, recovery: { maxAttempts: 0 } },
    { transport: { kind: 'sse', url }, timeouts: { connectTimeoutMs: -1 } },
    { transport: stdio, liveness: { heartbeatMs: Number.NaN } },
    { transport: stdio, nonsense: true },
    { transport: stdio, connect: () => fetch(url) },
  ]) {
    expect(() => own('files', options)).toThrow(InvalidOptionsError);
  }
  const before = connections;
  // A valid one of each shows that the counters count, and gives what was half-done time to show.
  own('http', { transport: { kind: 'http', url }, recovery: { maxAttempts: 1 } });
  own('stdio', { transport: stdio });
  await until(() => connections > before);
  await until(() => supervisor.connections.get('stdio')?.state === 'ready');
  expect([before, connections]).toEqual([0, 1]);
  expect(server.ledger.count('spawn')).toBe(1);
  await Promise.all([...supervisor.connections.values()].map((each) => each.close()));
});

describe('adopt', () => {
  it.each(WRONG_FOR_ADOPT)('options: %s', (_what, options, path, expected) => {
    const client = { request() {}, callTool() {}, ping() {}, transport: {} };
    expectRefused(() => supervisor.adopt('mine', client, options as never), path, expected);
    expectRefused(() => supervisor.adoptSession('mine', client, options as never), path, expected);
    expect(supervisor.connections.size).toBe(0);
    expect(Object.keys(client), 'untouched').toEqual(['request', 'callTool', 'ping', 'transport']);
  });
});

it.each(WRONG_FOR_SUPERVISOR)('createSupervisor: %s', (_what, options, path, expected) => {
  expectRefused(() => createSupervisor(options as never), path, expected);
});
