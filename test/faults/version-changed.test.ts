// The server behind an address comes back with another revision of the protocol: from 2026-07-28 to 2025 and the other
// way round, with and without sessions.
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { type HttpTransportName, type ServerOptions, startServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV2 } from '../support/raw-client.ts';

const append = (key: string) => ({ name: 'append', arguments: { key } });
const clientInfo = { name: 'host', version: '1' };

/** A server of `modern` refuses what 2025 says. */
const optionsOf = (transport: HttpTransportName): ServerOptions => ({ transport, legacy: 'reject' });

const CHANGES: [from: HttpTransportName, to: HttpTransportName][] = [
  ['modern', 'stateless'],
  ['modern', 'http'],
  ['http', 'modern'],
  ['stateless', 'modern'],
];

it.each(CHANGES)('%s, then %s: one new connection, and each call runs once', async (from, to) => {
  const before = await startServer(optionsOf(from));
  const supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.own('mine', {
    connect: async ({ fetch }) => (await connectV2(before, 'auto', { fetch })).client as never,
  });
  const causes: unknown[] = [];
  handle.on('lost', ({ cause }) => causes.push(cause));
  await handle.callTool(append('before'));
  await before[Symbol.asyncDispose]();
  await using after = await startServer({ ...optionsOf(to), port: before.port });
  await Promise.all([handle.callTool(append('a')), handle.callTool(append('b')), handle.listTools()]);
  expect(handle).toMatchObject({ state: 'ready', generation: 2 });
  expect([after.ledger.runs('a'), after.ledger.runs('b')]).toEqual([1, 1]);
  // The stream of a session was cut before anything was asked.
  if (from !== 'http') expect(causes).toEqual([to === 'http' ? 'session-rejected' : 'version-changed']);
  await supervisor.close();
});

it.each(CHANGES)('%s, then %s, of the caller’s: refused, and told why', async (from, to) => {
  const before = await startServer(optionsOf(from));
  const { client } = await connectV2(before, 'auto');
  const supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', client as never);
  await handle.callTool(append('before'));
  await before[Symbol.asyncDispose]();
  await using after = await startServer({ ...optionsOf(to), port: before.port });
  const error = await rejection(handle.callTool(append('a')));
  expect(error).toMatchObject({ code: 'ownership', evidence: { execution: 'none' } });
  if (!(from === 'modern' && to === 'http')) expect((error as Error).message).toContain('another version');
  expect(handle.state).toBe('failed-ownership');
  expect(after.ledger.runs('a')).toBe(0);
  await supervisor.close();
  await client.close();
});

it('an ordinary refusal of one call is no loss, however often it comes', async () => {
  await using server = await startServer({ transport: 'modern' });
  const supervisor = createSupervisor({ clientInfo });
  let dials = 0;
  const handle = supervisor.own('mine', {
    connect: async ({ fetch }) => {
      dials++;
      return (await connectV2(server, '2026-07-28', { fetch })).client as never;
    },
  });
  await handle.callTool(append('before'));
  for (const status of [400, 404, 405]) {
    await server.fault({ kind: 'status', status, body: 'No.', method: 'tools/call' } as never);
    expect(await rejection(handle.callTool(append('refused')))).not.toMatchObject({ connection: 'mine' });
  }
  await handle.callTool(append('after'));
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect([dials, server.ledger.runs('refused'), server.ledger.runs('after')]).toEqual([1, 0, 1]);
  await supervisor.close();
});
