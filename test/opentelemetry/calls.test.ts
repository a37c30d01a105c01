// The span of an operation that met no loss: what it is called, what is told of it, and what it says of a failure.
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OwnedConnection } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { sharedServer } from '../support/shared-server.ts';
import { until } from '../support/until.ts';
import { type Traced, traced } from './traced.ts';

expectNoCrashes();
const server = sharedServer();
const contexts = new AsyncLocalStorageContextManager();
beforeAll(() => void context.setGlobalContextManager(contexts.enable()));
afterAll(() => context.disable());

async function ready(tracedHost: Traced): Promise<OwnedConnection> {
  const files = tracedHost.own({ transport: { kind: 'http', url: server().url } });
  await until(() => files.state === 'ready');
  return files;
}

const OF_FILES = { 'mcp_steward.connection': 'files', 'mcp_steward.ownership': 'supervisor' };

it('a tool call: a client span with the name of its tool', async () => {
  await using host = traced();
  const files = await ready(host);
  await files.callTool({ name: 'echo', arguments: { text: 'hello' } });
  const [span, ...others] = host.recorder.spans;
  expect(others).toEqual([]);
  expect(span).toMatchObject({ name: 'tools/call echo', kind: SpanKind.CLIENT });
  expect(span?.attributes).toEqual({
    ...OF_FILES,
    'mcp.method.name': 'tools/call',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'echo',
    'mcp_steward.operation.kind': 'tool',
    'mcp_steward.generation': 1,
    'mcp_steward.sends': 1,
    'mcp_steward.outcome': 'answered',
  });
  expect(span?.status).toEqual({ code: SpanStatusCode.UNSET });
  expect(span?.events).toEqual([]);
});

it('a prompt has its name in the span; a list, a resource and a ping have their method only', async () => {
  await using host = traced();
  const files = await ready(host);
  await files.getPrompt({ name: 'greet', arguments: { name: 'ada' } });
  await files.listTools();
  await files.readResource({ uri: 'text://one' });
  await files.ping();
  expect(host.recorder.calls.map(({ name }) => name)).toEqual([
    'prompts/get greet',
    'tools/list',
    'resources/read',
    'ping',
  ]);
  const [prompt, list] = host.recorder.calls;
  expect(prompt?.attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet' });
  expect(prompt?.attributes).not.toHaveProperty('gen_ai.operation.name');
  expect(Object.keys(list?.attributes ?? {})).not.toContain('gen_ai.tool.name');
});

it('the caller’s active span is the parent of the call, and of no recreation', async () => {
  await using host = traced();
  const files = await ready(host);
  const parent = host.recorder.tracerProvider.getTracer('host').startSpan('agent turn');
  await context.with(trace.setSpan(context.active(), parent), () => files.ping());
  await files.ping();
  await server().evict();
  await context.with(trace.setSpan(context.active(), parent), () => files.ping());
  const [child, root] = host.recorder.calls;
  const [recreation] = host.recorder.recreations;
  expect(recreation?.parentSpanContext).toBeUndefined();
  expect(recreation?.spanContext().traceId).not.toBe(parent.spanContext().traceId);
  expect(child?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
  expect(root?.parentSpanContext).toBeUndefined();
});

it('an isError result is answered, and an error', async () => {
  await using host = traced();
  const files = await ready(host);
  await files.callTool({ name: 'fails', arguments: {} });
  const [span] = host.recorder.calls;
  expect(span?.attributes).toMatchObject({ 'error.type': 'tool_error', 'mcp_steward.outcome': 'answered' });
  expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
});

it('only a tool call can have such a result', async () => {
  await using host = traced();
  const files = await ready(host);
  await server().fault({ on: 'tools/list', kind: 'result', result: { tools: [], isError: true } });
  await files.listTools();
  expect(host.recorder.calls[0]?.attributes).not.toHaveProperty('error.type');
});

it('a JSON-RPC error: its number, and none of its words', async () => {
  await using host = traced();
  const files = await ready(host);
  await rejection(files.callTool({ name: 'rpcError', arguments: { code: -32602, message: 'bad' } }));
  const [span] = host.recorder.calls;
  expect(span?.attributes).toMatchObject({
    'error.type': '-32602',
    'rpc.response.status_code': '-32602',
    'mcp_steward.outcome': 'passed-through',
    'mcp_steward.evidence.cause': 'rpc-error',
    'mcp_steward.evidence.execution': 'answered',
    'mcp_steward.generation': 1,
  });
  expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(span?.events, 'no exception is recorded').toEqual([]);
});

it('a timeout', async () => {
  await using host = traced();
  const files = await ready(host);
  await rejection(files.callTool({ name: 'hang', arguments: {} }, undefined, { timeout: 50 }));
  const [span] = host.recorder.calls;
  expect(span?.attributes).toMatchObject({
    'error.type': 'timeout',
    'mcp_steward.outcome': 'passed-through',
    'mcp_steward.evidence.cause': 'timeout',
    'mcp_steward.sends': 1,
  });
  expect(span?.attributes).not.toHaveProperty('rpc.response.status_code');
});

it('the caller’s abort of a call that is in flight', async () => {
  await using host = traced();
  const files = await ready(host);
  const abort = new AbortController();
  const call = rejection(
    files.callTool({ name: 'hang', arguments: {} }, undefined, { signal: abort.signal }),
  );
  await until(() => server().ledger.runs() === 1);
  abort.abort();
  await call;
  expect(host.recorder.calls[0]?.attributes).toMatchObject({
    'error.type': 'aborted',
    'mcp_steward.outcome': 'passed-through',
    'mcp_steward.evidence.cause': 'aborted',
  });
});

it('what is neither: an HTTP status that is no loss', async () => {
  await using host = traced();
  const files = await ready(host);
  await server().fault({ kind: 'status', status: 503 });
  await rejection(files.callTool({ name: 'append', arguments: {} }));
  expect(host.recorder.calls[0]?.attributes).toMatchObject({
    'error.type': '_OTHER',
    'mcp_steward.outcome': 'passed-through',
    'mcp_steward.evidence.cause': 'http-error',
  });
});

it('an error -32001 of the server’s own is no timeout', async () => {
  await using host = traced();
  const files = await ready(host);
  await server().fault({ kind: 'rpc-error', code: -32001 });
  await rejection(files.callTool({ name: 'append', arguments: {} }));
  expect(host.recorder.calls[0]?.attributes).toMatchObject({
    'error.type': '-32001',
    'rpc.response.status_code': '-32001',
    'mcp_steward.outcome': 'passed-through',
    'mcp_steward.evidence.cause': 'session-error',
  });
});

it('a call on a closed handle was never sent', async () => {
  await using host = traced();
  const files = await ready(host);
  await files.close();
  await rejection(files.ping());
  const [span] = host.recorder.calls;
  expect(span?.attributes).toMatchObject({
    'error.type': 'closed',
    'mcp_steward.outcome': 'unavailable',
    'mcp_steward.sends': 0,
  });
  expect(span?.attributes).not.toHaveProperty('mcp_steward.generation');
});
