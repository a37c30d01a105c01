// What belongs to its caller: its loss is told as a loss, and nothing as a recreation.
import { SpanStatusCode } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { connectV1 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { eventsOf, loseUnderCall, traced } from './traced.ts';

expectNoCrashes();

const LENT = { 'mcp_steward.connection': 'mine', 'mcp_steward.ownership': 'caller-client' };

async function connect(server: FaultServer) {
  const { target } = server;
  return connectV1(
    target.kind === 'stdio'
      ? { command: target.command, args: [...(target.args ?? [])] }
      : new URL(target.url),
  );
}

it('a forgotten session: refused, a loss, no recreation; then replaced by its caller', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await using first = await connect(server);
  const mine = host.supervisor.adopt('mine', first.client);
  await mine.callTool({ name: 'append', arguments: { key: 'a' } });
  await server.evict();
  await rejection(mine.callTool({ name: 'append', arguments: { key: 'b' } }));
  await rejection(mine.callTool({ name: 'append', arguments: { key: 'c' } }));
  const [, stricken, late] = host.recorder.calls;
  expect(stricken?.attributes).toMatchObject({
    ...LENT,
    'error.type': 'ownership',
    'mcp_steward.outcome': 'refused',
    'mcp_steward.generation': 1,
    'mcp_steward.sends': 1,
    'mcp_steward.evidence.cause': 'session-unknown',
    'mcp_steward.evidence.execution': 'none',
  });
  expect(stricken?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(late?.attributes).toMatchObject({ 'mcp_steward.outcome': 'refused', 'mcp_steward.sends': 0 });
  expect([eventsOf(stricken!), eventsOf(late!)]).toEqual([[], []]);
  expect([stricken?.links, late?.links]).toEqual([[], []]);
  expect(await host.recorder.points('mcp_steward.losses')).toEqual([
    { attributes: { ...LENT, 'mcp_steward.evidence.cause': 'session-unknown' }, value: 1 },
  ]);

  await using second = await connect(server);
  await mine.replace(second.client);
  await mine.callTool({ name: 'append', arguments: { key: 'd' } });
  expect(host.recorder.calls.at(-1)?.attributes).toMatchObject({ 'mcp_steward.generation': 2 });
  expect(host.recorder.recreations).toEqual([]);
  expect(await host.recorder.points('mcp_steward.recreations')).toEqual([]);
  expect(
    await host.recorder.points('mcp_steward.recovery.duration'),
    'from its loss until its caller replaced it',
  ).toEqual([{ attributes: LENT, value: expect.objectContaining({ count: 1 }) }]);
});

it('killed in the middle of a call: refused, and it may have run', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using host = traced();
  await using raw = await connect(server);
  const mine = host.supervisor.adopt('mine', raw.client);
  await loseUnderCall(server, mine);
  await until(() => mine.state === 'failed-ownership');
  expect(host.recorder.calls[0]?.attributes).toMatchObject({
    'error.type': 'ownership',
    'mcp_steward.outcome': 'refused',
    'mcp_steward.evidence.execution': 'unknown',
  });
  expect(await host.recorder.points('mcp_steward.losses')).toHaveLength(1);
  expect(await host.recorder.points('mcp_steward.unknown_outcomes')).toEqual([]);
  expect(host.recorder.recreations).toEqual([]);
});

it('a call that outlives its supervisor says how it ended', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await using raw = await connect(server);
  const mine = host.supervisor.adopt('mine', raw.client);
  await server.when('tools/call', 'hold');
  const call = rejection(
    mine.callTool({ name: 'append', arguments: { key: 'a' } }, undefined, { timeout: 300 }),
  );
  await server.until('it is held', ({ held }) => held === 1);
  await host.supervisor.close();
  await call;
  expect(host.recorder.calls[0]?.attributes).toMatchObject({
    'mcp_steward.outcome': 'passed-through',
    'error.type': 'timeout',
  });
});
