// Listeners and hooks of the host that throw or reject harm nobody.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, it } from 'vitest';
import { createSupervisor, type OwnOptions } from '../../src/index.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { callTool, http, own, settled, stdio } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();
const clientInfo = { name: 'host', version: '1.0.0' };

const boom = (): never => {
  throw new Error('boom of the host');
};
const rejects = async (): Promise<never> => boom();

it.each([
  ['throw', boom],
  ['reject', rejects],
])('listeners that %s: the others hear everything, and recovery goes on', async (_how, bad) => {
  const server = shared();
  await using owned = own(http(server.url));
  const heard: string[] = [];
  for (const event of ['transition', 'lost', 'recreated'] as const) {
    owned.handle.on(event, bad as () => void);
    owned.handle.on(event, () => heard.push(event));
  }
  await callTool(owned, 'append', { key: 'a' });
  await server.evict();
  await callTool(owned, 'append', { key: 'b' });
  expect(heard.filter((event) => event !== 'transition')).toEqual(['lost', 'recreated']);
  expect([server.ledger.runs('a'), server.ledger.runs('b'), owned.handle.generation]).toEqual([1, 1, 2]);
});

it('a listener that closes, calls and removes itself in the middle of an event', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  const calls: Promise<unknown>[] = [];
  const off = owned.handle.on('lost', () => {
    off();
    calls.push(callTool(owned, 'append', { key: 'from the listener' }));
  });
  await owned.ready();
  await server.evict();
  await callTool(owned, 'append', { key: 'x' });
  await Promise.all(calls);
  expect([server.ledger.runs('from the listener'), server.ledger.runs('x')]).toEqual([1, 1]);
  owned.handle.on('transition', ({ to }) => {
    if (to === 'closing') void owned.handle.close();
  });
  await owned.handle.close();
  expect(owned.handle.state).toBe('closed');
});

it.each([
  ['throws', boom],
  ['rejects', rejects],
])('a logger that %s', async (_how, log) => {
  const server = shared();
  const logger = { debug: log, info: log, warn: log, error: log } as never;
  await using owned = own(http(server.url), { logger });
  owned.handle.on('transition', boom);
  await owned.ready();
  await server.evict();
  await callTool(owned, 'append', { key: 'x' });
  expect([server.ledger.runs('x'), owned.handle.generation]).toEqual([1, 2]);
});

it.each([
  ['throws', boom],
  ['rejects', rejects],
  ['never ends', () => new Promise<void>(() => {})],
])('a setup hook that %s is a dial that failed; nothing is left open', async (_how, setup) => {
  const server = shared();
  await using owned = own(http(server.url), {
    setup,
    recovery: { maxAttempts: 2, initialBackoffMs: 1 },
    timeouts: { connectTimeoutMs: 200 },
  });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
  expect(error).toMatchObject({ code: 'unavailable' });
  expect((error as Error).message, 'the host’s own words stay in `cause`').not.toContain('boom');
  expect(server.ledger.count('request')).toBe(0);
});

it.each([
  ['throws', boom],
  ['rejects', rejects],
  ['returns nothing', () => undefined],
  ['returns null', () => null],
  ['returns a client that is not connected', () => new Client(clientInfo)],
  ['never ends', () => new Promise(() => {})],
])('a connect function that %s', async (_how, connect) => {
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.own('files', {
    connect: connect as OwnOptions['connect'] & object,
    recovery: { maxAttempts: 2, initialBackoffMs: 1 },
    timeouts: { connectTimeoutMs: 200, closeTimeoutMs: 100 },
  });
  await expect(handle.ping()).rejects.toMatchObject({ code: 'unavailable', connection: 'files' });
  expect(handle.state).toBe('exhausted');
  await handle.close();
});

it.each([
  ['throws', boom],
  ['rejects', rejects],
  ['returns nonsense', () => 'lost'],
  ['returns half an evidence', () => ({ connection: 'lost' })],
  ['returns an evidence of unknown words', () => ({ connection: 'broken', execution: 'maybe', cause: 'x' })],
])('a classify rule that %s is passed over', async (_how, classify) => {
  const server = shared();
  await using owned = own(http(server.url), { evidence: { classify: classify as never } });
  await owned.ready();
  await server.evict();
  await callTool(owned, 'append', { key: 'x' }, 3_000);
  expect([server.ledger.runs('x'), owned.handle.generation]).toEqual([1, 2]);
});

it('client hooks that were set in `setup` and throw: every loss is still noticed and recovered', async () => {
  const server = shared();
  await using child = stdioServer();
  const setup = (client: Client) => {
    client.onerror = boom;
    client.onclose = boom;
  };
  await using remote = own(http(server.url), { setup });
  await using local = own(stdio(child), { setup });
  await Promise.all([remote.ready(), local.ready()]);
  await server.evict();
  process.kill(child.server(), 'SIGKILL');
  await until(() => local.handle.state === 'lost');
  await callTool(remote, 'append', { key: 'remote' });
  await callTool(local, 'append', { key: 'local' });
  expect([server.ledger.runs('remote'), child.ledger.runs('local')]).toEqual([1, 1]);
  expect([remote.handle.generation, local.handle.generation]).toEqual([2, 2]);
});

it('progress callbacks that throw: the call goes on', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  const call = owned.handle.callTool(
    { name: 'progress', arguments: { key: 'p', steps: 3, everyMs: 5 } },
    undefined,
    { onprogress: boom, resetTimeoutOnProgress: true },
  );
  await settled(call);
  await until(() => server.ledger.runs('p') === 1);
  await callTool(owned, 'append', { key: 'next' });
  expect([server.ledger.runs('next'), owned.handle.generation]).toEqual([1, 1]);
});

it('an onclose that the host sets in the middle of a handshake is called when the connection closes', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await server.when('initialize', 'hold');
  let client: Client | undefined;
  await using supervisor = createSupervisor({
    clientInfo,
    setup: (made) => {
      client = made;
    },
  });
  const files = supervisor.own('files', { transport: server.target });
  await server.until('the handshake is held', ({ held }) => held === 1);
  let closes = 0;
  if (client !== undefined) client.onclose = () => void closes++;
  await server.when('initialize', 'answer');
  await files.ping();
  await server.kill();
  await until(() => closes === 1, { what: 'its call' });
});
