// Connections that are lost for real: the spans of the operations, of the recreations, and the links between them.
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { until } from '../support/until.ts';
import { append, eventsOf, linkedTo, loseUnderCall, traced } from './traced.ts';

expectNoCrashes();

it('a session that is forgotten: sent again on generation 2, and both spans say which', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.callTool(append('a'));
  await server.evict();
  await files.callTool(append('b'));
  const [, call] = host.recorder.calls;
  const [recreation, ...others] = host.recorder.recreations;
  expect(others).toEqual([]);
  expect(call?.attributes).toMatchObject({
    'mcp_steward.outcome': 'answered',
    'mcp_steward.generation': 2,
    'mcp_steward.sends': 2,
    'mcp_steward.evidence.cause': 'session-unknown',
    'mcp_steward.evidence.execution': 'none',
  });
  expect(call?.status.code, 'the caller saw no error').toBe(SpanStatusCode.UNSET);
  expect(eventsOf(call!)).toEqual(['waiting', 'sent again']);
  expect(recreation).toMatchObject({ kind: SpanKind.INTERNAL, status: { code: SpanStatusCode.UNSET } });
  expect(recreation?.parentSpanContext).toBeUndefined();
  expect(recreation?.attributes).toEqual({
    'mcp_steward.connection': 'files',
    'mcp_steward.ownership': 'supervisor',
    'mcp_steward.generation.from': 1,
    'mcp_steward.generation.to': 2,
    'mcp_steward.evidence.cause': 'session-unknown',
    'mcp_steward.attempts': 1,
    'mcp_steward.outcome': 'ready',
  });
  expect(eventsOf(recreation!)).toEqual(['dial']);
  expect(linkedTo(call!, recreation!)).toBe(true);
  expect(linkedTo(recreation!, call!)).toBe(true);
  expect(linkedTo(recreation!, host.recorder.calls[0]!), 'the call before had nothing to do with it').toBe(
    false,
  );
});

it('many calls on a forgotten session share one recreation, linked with each', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.callTool(append('first'));
  await server.evict();
  await Promise.all(Array.from({ length: 10 }, (_, n) => files.callTool(append(`${n}`))));
  const [recreation, ...others] = host.recorder.recreations;
  expect(others).toEqual([]);
  const stricken = host.recorder.calls.slice(1);
  expect(stricken.map((call) => linkedTo(call, recreation!) && linkedTo(recreation!, call))).toEqual(
    stricken.map(() => true),
  );
  expect(recreation?.links).toHaveLength(10);
  expect(server.counts().initializes).toBe(2);
});

it('killed in the middle of a call, on demand: unknown, and no recreation until somebody asks', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.ping();
  await loseUnderCall(server, files);
  const [, unknown] = host.recorder.calls;
  expect(unknown?.attributes).toMatchObject({
    'network.transport': 'pipe',
    'error.type': 'outcome-unknown',
    'mcp_steward.outcome': 'unknown-outcome',
    'mcp_steward.generation': 1,
    'mcp_steward.sends': 1,
    'mcp_steward.evidence.cause': 'connection-closed',
    'mcp_steward.evidence.execution': 'unknown',
  });
  expect(unknown?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(unknown?.links).toEqual([]);
  expect(host.recorder.recreations, 'nothing was recreated').toEqual([]);
  await files.ping();
  const [recreation] = host.recorder.recreations;
  expect(linkedTo(recreation!, unknown!), 'it says whom the loss had stricken').toBe(true);
  expect(linkedTo(recreation!, host.recorder.calls.at(-1)!)).toBe(true);
  expect(unknown?.links, 'its span had ended').toEqual([]);
});

it('killed in the middle of a call, eager: linked both ways before its span ends', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using host = traced();
  const files = host.own({ transport: server.target, recovery: { recreate: 'eager' } });
  await files.ping();
  await loseUnderCall(server, files);
  await until(() => files.generation === 2);
  const [, unknown] = host.recorder.calls;
  const [recreation] = host.recorder.recreations;
  expect(unknown?.attributes).toMatchObject({ 'mcp_steward.outcome': 'unknown-outcome' });
  expect(linkedTo(unknown!, recreation!)).toBe(true);
  expect(linkedTo(recreation!, unknown!)).toBe(true);
});

it('exhausted: it says so, with every dial and why it failed', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target, recovery: { maxAttempts: 2, stableMs: 1 } });
  await files.ping();
  await server.kill();
  await rejection(files.ping());
  const [recreation, ...others] = host.recorder.recreations;
  const call = host.recorder.calls.at(-1);
  expect(others).toEqual([]);
  expect(recreation?.attributes).toMatchObject({
    'mcp_steward.outcome': 'exhausted',
    'mcp_steward.generation.from': 1,
    'mcp_steward.attempts': 2,
    'error.type': 'unreachable',
  });
  expect(recreation?.attributes).not.toHaveProperty('mcp_steward.generation.to');
  expect(recreation?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(recreation?.events.map(({ name, attributes }) => ({ name, ...attributes }))).toEqual([
    { name: 'dial', 'mcp_steward.attempt': 1 },
    { name: 'dial failed', 'mcp_steward.attempt': 1, 'mcp_steward.evidence.cause': 'unreachable' },
    { name: 'dial', 'mcp_steward.attempt': 2 },
    { name: 'dial failed', 'mcp_steward.attempt': 2, 'mcp_steward.evidence.cause': 'unreachable' },
  ]);
  expect(call?.attributes).toMatchObject({
    'error.type': 'unavailable',
    'mcp_steward.outcome': 'unavailable',
  });
  expect(linkedTo(call!, recreation!) && linkedTo(recreation!, call!)).toBe(true);
  // At once, in the cool-down: it waited for nothing.
  await rejection(files.ping());
  expect(host.recorder.calls.at(-1)?.links).toEqual([]);
  expect(host.recorder.recreations).toHaveLength(1);

  await rejection(files.reconnect());
  expect(host.recorder.recreations).toHaveLength(2);
  expect(host.recorder.recreations[1]?.links, 'nobody waited for that one').toEqual([]);
});

it('never sent: why no connection could be made', async () => {
  await using host = traced();
  const url = await refusingUrl();
  const files = host.own({ transport: { kind: 'http', url }, recovery: { maxAttempts: 1 } });
  await rejection(files.ping());
  expect(host.recorder.calls[0]?.attributes).toMatchObject({
    'error.type': 'unavailable',
    'mcp_steward.outcome': 'unavailable',
    'mcp_steward.sends': 0,
    'mcp_steward.evidence.cause': 'unreachable',
    'mcp_steward.evidence.execution': 'none',
  });
});

it('a call that waits: sent once, when there is a connection', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await server.when('initialize', 'hold');
  const files = host.own({ transport: server.target });
  const call = files.callTool(append('a'));
  await server.until('the handshake is held', ({ held }) => held === 1);
  await server.when('initialize', 'answer');
  await call;
  const [span] = host.recorder.calls;
  expect(span?.attributes).toMatchObject({ 'mcp_steward.sends': 1, 'mcp_steward.generation': 1 });
  expect(eventsOf(span!)).toEqual(['waiting']);
  expect(host.recorder.recreations, 'a first connection is no recreation').toEqual([]);
});

it('one that waited and was aborted, and one whose time was up, were never sent', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await server.when('initialize', 'hold');
  const files = host.own({ transport: server.target });
  const abort = new AbortController();
  const aborted = rejection(files.callTool(append('a'), undefined, { signal: abort.signal }));
  await server.until('the handshake is held', ({ held }) => held === 1);
  abort.abort();
  await aborted;
  await rejection(files.callTool(append('b'), undefined, { timeout: 20 }));
  await rejection(files.callTool(append('c'), undefined, { signal: abort.signal }));
  expect(
    host.recorder.calls.map(({ attributes, events }) => ({ ...attributes, events: events.length })),
  ).toEqual([
    expect.objectContaining({ 'error.type': 'aborted', 'mcp_steward.outcome': 'cancelled', events: 1 }),
    expect.objectContaining({ 'error.type': 'unavailable', 'mcp_steward.outcome': 'timed-out', events: 1 }),
    expect.objectContaining({ 'error.type': 'aborted', 'mcp_steward.outcome': 'cancelled', events: 0 }),
  ]);
  expect(host.recorder.calls.map(({ attributes }) => attributes['mcp_steward.sends'])).toEqual([0, 0, 0]);
});
