// Failures that come in twos, and answers that are not what they seem.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { describe, expect, it } from 'vitest';
import { createSupervisor, OutcomeUnknownError } from '../../src/index.ts';
import { operationOf, policyOf } from '../../src/operations.ts';
import { StdioTransport } from '../../src/transports/stdio.ts';
import { startServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { http, own, settled } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };

it('a second send that did not run does not undo a first that may have', async () => {
  const failures = [
    Object.assign(new TypeError('fetch failed'), { cause: { code: 'UND_ERR_SOCKET' } }),
    new Error('Not connected'),
  ];
  let made = 0;
  const supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.own('stub', {
    replay: { tools: { read: 'safe' } },
    // A fake: no real server fails in these two ways, one after the other, at will.
    connect: async () => {
      const client = new Client(clientInfo);
      const transport = { send: async () => {}, close: async () => {} };
      Object.defineProperty(client, 'transport', { get: () => (made < 2 ? transport : undefined) });
      client.callTool = () => Promise.reject(failures[made++]);
      client.ping = async () => ({});
      return client;
    },
  });
  await until(() => handle.state === 'ready');
  const error = await rejection(handle.callTool({ name: 'read' }));
  expect(made).toBe(2);
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({ evidence: { execution: 'unknown' } });
  await supervisor.close();
});

describe('a tool that creates a task', () => {
  const policy = (declared: 'safe' | 'never') =>
    policyOf(
      operationOf('tools/call'),
      { tool: 'x', createsTask: true },
      { tools: { x: declared } },
      undefined,
    );

  it('is not safe, whatever is declared', () => expect(policy('safe')).toBe('if-unsent'));
  it('stays never', () => expect(policy('never')).toBe('never'));
});

it('a Retry-After beyond what a timer can hold is not answered with a dial at once', async () => {
  await using server = await startServer({
    faults: [{ on: 'initialize', kind: 'status', status: 503, headers: { 'retry-after': '9999999999' } }],
  });
  await using owned = own(http(server.url));
  await until(() => server.ledger.count('fault') === 1);
  const { error } = await settled(owned.handle.ping({ timeout: 300 }));
  expect(error).toMatchObject({ code: 'unavailable', why: 'retry-after' });
  expect(server.ledger.requests('initialize')).toBe(1);
  expect(owned.handle.state).toBe('exhausted');
});

it('a fetch whose responses have no body harms nobody', async () => {
  await using server = await startServer({ answers: 'json' });
  const bodiless: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    // A fake: what some mobile runtimes and mocks return.
    return Object.defineProperty(response, 'body', { value: undefined });
  };
  await using owned = own({ kind: 'http', url: server.url, fetch: bodiless });
  await owned.ready();
  expect(await owned.handle.callTool({ name: 'echo', arguments: { key: 'x' } })).toHaveProperty('content');
});

it('a session that rejects with nothing at all is not the end of its handle', async () => {
  const supervisor = createSupervisor({ clientInfo });
  // A fake: the SDK never rejects with null.
  const handle = supervisor.adoptSession('odd', { request: () => Promise.reject(null) });
  expect(await rejection(handle.listTools())).toBeNull();
  expect(handle.state).not.toBe('closed');
  await supervisor.close();
});

it('a call in flight on a client that was replaced and then closed tells that it was lost', async () => {
  await using server = await startServer();
  await using first = await connectV1(server);
  await using second = await connectV1(server);
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', first.client);
  const call = rejection(handle.callTool({ name: 'append', arguments: { key: 'x', holdMs: 60_000 } }));
  await until(() => server.ledger.runs('x') === 1);
  await handle.replace(second.client);
  await first.client.close();
  expect(await call).toMatchObject({ code: 'ownership', evidence: { execution: 'unknown' } });
  expect(await handle.ping()).toEqual({});
});

it('a command that does not exist: no process is said to have ended', async () => {
  await using owned = own({ kind: 'stdio', command: 'no-such-command-anywhere' });
  const { error } = await settled(owned.handle.ping());
  expect(error).toMatchObject({
    code: 'unavailable',
    evidence: { cause: 'unreachable' },
  });
  expect(error).not.toHaveProperty('evidence.process');
  expect((error as Error).message).not.toContain('exited');
});

it('stderr: secrets in secrets, and in arguments', async () => {
  const script = `
    const said = [process.env.B, ...process.argv.slice(1), process.argv[2].split(' ').at(-1), process.env.A];
    process.stderr.write('x'.repeat(9_000) + said.join(' '));
    setTimeout(() => process.exit(1), 50);`;
  const args = [
    ...['--header', 'Authorization: Bearer token-hush'],
    ...['--api-key', 'key-hush', '--token=hush-hush-hush', 'PASSWORD=word-hush', 'Cookie:biscuit-hush'],
    ...['-Dapi.key=d-hush', '--header=X-Api-Key: x-hush', 'https://me:pw-hush@host/path?key=q-hush'],
    ...['-y', '@scope/server', '/srv/files', '--no-auth', '--message=list all files'],
  ];
  const env = { A: 'abcd', B: 'abcd-efgh-ijkl' };
  const transport = new StdioTransport(
    { command: process.execPath, args: ['-e', script, '--', ...args], env },
    1_000,
  );
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await closed;
  const { stderr } = transport.processEnd ?? { stderr: '' };
  expect(stderr).toContain('[redacted]');
  for (const secret of ['abcd', 'efgh', 'ijkl', 'hush']) expect(stderr).not.toContain(secret);
  expect(stderr, 'what is no secret helps').toContain('@scope/server /srv/files');
  await transport.close();
});
