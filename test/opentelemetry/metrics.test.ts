// The metrics of connections that are used, lost and closed for real.
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { openTelemetry } from '../../src/opentelemetry/index.ts';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { until } from '../support/until.ts';
import { append, loseUnderCall, Recorder, traced } from './traced.ts';

expectNoCrashes();

const FILES = { 'mcp_steward.connection': 'files' };
const OWNED = { 'mcp_steward.ownership': 'supervisor' };

it('a loss, its recreation, and the call that was sent again', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.callTool(append('a'));
  await server.evict();
  await files.callTool(append('b'));
  const { recorder } = host;
  expect(await recorder.points('mcp_steward.losses')).toEqual([
    { attributes: { ...FILES, ...OWNED, 'mcp_steward.evidence.cause': 'session-unknown' }, value: 1 },
  ]);
  expect(await recorder.points('mcp_steward.recreations')).toEqual([
    { attributes: { ...FILES, 'mcp_steward.outcome': 'ready' }, value: 1 },
  ]);
  expect(await recorder.points('mcp_steward.replays')).toEqual([
    { attributes: { ...FILES, 'mcp_steward.operation.kind': 'tool' }, value: 1 },
  ]);
  expect(await recorder.points('mcp_steward.unknown_outcomes')).toEqual([]);
  const [recovery] = await recorder.points('mcp_steward.recovery.duration');
  expect(recovery).toEqual({
    attributes: { ...FILES, ...OWNED },
    value: expect.objectContaining({ count: 1 }),
  });
  expect((recovery?.value as { sum?: number } | undefined)?.sum, 'in seconds').toBeLessThan(10);
});

it('the duration of operations has the conventions’ unit, buckets and attributes', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.callTool(append('a'));
  await files.callTool(append('b'));
  await server.when('tools/call', 'forbid');
  await rejection(files.callTool(append('c')));
  const metric = (await host.recorder.metrics()).find(({ name }) => name === 'mcp.client.operation.duration');
  expect(metric?.unit).toBe('s');
  const attributes = {
    ...FILES,
    ...OWNED,
    'mcp.method.name': 'tools/call',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'append',
    'mcp_steward.operation.kind': 'tool',
  };
  const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
  expect(metric?.points).toEqual([
    {
      attributes: { ...attributes, 'mcp_steward.outcome': 'answered' },
      value: expect.objectContaining({ count: 2, buckets: expect.objectContaining({ boundaries }) }),
    },
    {
      attributes: { ...attributes, 'mcp_steward.outcome': 'passed-through', 'error.type': '_OTHER' },
      value: expect.objectContaining({ count: 1 }),
    },
  ]);
});

it('an unknown outcome, and a recreation that was exhausted', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target, recovery: { maxAttempts: 2, stableMs: 1 } });
  await files.ping();
  await loseUnderCall(server, files);
  await rejection(files.ping());
  expect(await host.recorder.points('mcp_steward.unknown_outcomes')).toEqual([
    { attributes: { ...FILES, 'mcp_steward.operation.kind': 'tool' }, value: 1 },
  ]);
  expect(await host.recorder.points('mcp_steward.recreations')).toEqual([
    { attributes: { ...FILES, 'mcp_steward.outcome': 'exhausted' }, value: 1 },
  ]);
  expect(await host.recorder.points('mcp_steward.recovery.duration'), 'it has not recovered').toEqual([]);
});

it('what is so now: connections by state, operations in flight and waiting; nothing once it is closed', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await server.when('initialize', 'hold');
  const files = host.own({ transport: server.target });
  const call = files.callTool(append('a'));
  await server.until('the handshake is held', ({ held }) => held === 1);
  expect(await present(host.recorder)).toEqual({ connecting: 1, waiting: 1, inFlight: 0 });
  expect(await host.recorder.points('mcp_steward.operations.waiting')).toEqual([
    { attributes: { ...FILES, ...OWNED }, value: 1 },
  ]);

  await server.when('tools/call', 'hold');
  await server.when('initialize', 'answer');
  await server.until('the call is held', ({ held, toolCalls }) => held === 1 && toolCalls === 1);
  expect(await present(host.recorder)).toEqual({ ready: 1, waiting: 0, inFlight: 1 });
  expect(await host.recorder.points('mcp_steward.operations.in_flight')).toEqual([
    { attributes: { ...FILES, ...OWNED }, value: 1 },
  ]);

  await server.when('tools/call', 'answer');
  await call;
  expect(await present(host.recorder)).toEqual({ ready: 1, waiting: 0, inFlight: 0 });
  await server.kill();
  const abort = new AbortController();
  const waiting = rejection(files.ping({ signal: abort.signal }));
  await until(() => files.status.waiting === 1);
  const { state } = files;
  expect(await present(host.recorder)).toEqual({ [state]: 1, waiting: 1, inFlight: 0 });
  abort.abort();
  await waiting;
  await files.close();
  expect(await present(host.recorder)).toEqual({ waiting: 0, inFlight: 0 });
});

it('a name that is taken again before its last machine has told its end', async () => {
  await using host = traced();
  const lazy = { connect: () => Promise.reject(new Error('never')), lazy: true } as const;
  const first = host.own(lazy);
  first.on('transition', ({ to }) => {
    if (to === 'closed') host.own(lazy);
  });
  await first.close();
  expect(await present(host.recorder)).toEqual({ idle: 1, waiting: 0, inFlight: 0 });
});

it('two supervisors with one telemetry are counted together, and leave one by one', async () => {
  await using recorder = new Recorder();
  await using server = await FaultServer.start();
  const telemetry = openTelemetry(recorder);
  const supervisors = [1, 2].map(() =>
    createSupervisor({ clientInfo: { name: 'test-host', version: '1.0.0' }, telemetry }),
  );
  const handles = supervisors.map((each) => each.own('files', { transport: server.target }));
  await until(() => handles.every(({ state }) => state === 'ready'));
  expect(await present(recorder)).toMatchObject({ ready: 2 });
  await supervisors[0]?.close();
  expect(await present(recorder)).toMatchObject({ ready: 1 });
  await supervisors[1]?.close();
  expect(await present(recorder)).toEqual({ waiting: 0, inFlight: 0 });
});

/** How many connections there are in each state that has any, and how many operations of all wait or are in flight. */
async function present(recorder: Recorder): Promise<Record<string, number>> {
  const counts: Record<string, number> = { waiting: 0, inFlight: 0 };
  for (const { attributes, value } of await recorder.points('mcp_steward.connections')) {
    if (value !== 0) counts[String(attributes['mcp_steward.state'])] = value as number;
  }
  for (const [key, name] of [
    ['waiting', 'waiting'],
    ['inFlight', 'in_flight'],
  ] as const) {
    for (const { value } of await recorder.points(`mcp_steward.operations.${name}`))
      counts[key] = value as number;
  }
  return counts;
}
