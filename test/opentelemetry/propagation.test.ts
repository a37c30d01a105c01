// Trace context in `_meta`, as the server got it.
import { context, createTraceState, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AlwaysOffSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { withTraceContext } from '../../src/opentelemetry/trace-context.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { MetaServer } from './meta-server.ts';
import { traced } from './traced.ts';

expectNoCrashes();
const contexts = new AsyncLocalStorageContextManager();
beforeAll(() => void context.setGlobalContextManager(contexts.enable()));
afterAll(() => context.disable());

let server: MetaServer;
beforeEach(async () => {
  server = await MetaServer.start();
});
afterEach(() => server[Symbol.asyncDispose]());

const transport = () => ({ kind: 'http', url: server.url }) as const;
const metaOf = (method: string) => server.arrived(method).map(({ params }) => params?._meta);

it('off by default: the server gets what the caller gave', async () => {
  await using host = traced();
  const files = host.own({ transport: transport() });
  await files.callTool({ name: 'a', arguments: { x: 1 }, _meta: { mine: true } });
  await files.callTool({ name: 'b' });
  expect(server.arrived('tools/call').map(({ params }) => params)).toEqual([
    { name: 'a', arguments: { x: 1 }, _meta: { mine: true } },
    { name: 'b' },
  ]);
});

it('on: the span of the call, beside what the caller put there, and the caller’s object as it was', async () => {
  await using host = traced({ propagate: true });
  const files = host.own({ transport: transport() });
  const params = { name: 'a', arguments: { x: 1 }, _meta: { mine: true } };
  await files.callTool(params);
  await files.listTools();
  const [call, list] = host.recorder.calls.map((span) => span.spanContext());
  expect(server.arrived('tools/call').map((each) => each.params)).toEqual([
    { ...params, _meta: { mine: true, traceparent: `00-${call?.traceId}-${call?.spanId}-01` } },
  ]);
  expect(metaOf('tools/list')).toEqual([{ traceparent: `00-${list?.traceId}-${list?.spanId}-01` }]);
  expect(params).toEqual({ name: 'a', arguments: { x: 1 }, _meta: { mine: true } });
});

it('sent again: the same span, because it is the same operation', async () => {
  await using host = traced({ propagate: true });
  const files = host.own({ transport: transport() });
  await files.ping();
  server.evict();
  await files.callTool({ name: 'a' });
  const [first, second, ...others] = metaOf('tools/call');
  expect(others).toEqual([]);
  expect(first?.traceparent).toContain(host.recorder.calls[1]?.spanContext().spanId);
  expect(second).toEqual(first);
});

it('a trace context of the caller’s own stays, whole', async () => {
  await using host = traced({ propagate: true });
  const files = host.own({ transport: transport() });
  for (const _meta of [{ traceparent: 'mine' }, { tracestate: 'mine=1' }]) {
    await files.callTool({ name: 'a', _meta });
  }
  expect(metaOf('tools/call')).toEqual([{ traceparent: 'mine' }, { tracestate: 'mine=1' }]);
});

it('the parent’s trace and its tracestate', async () => {
  await using host = traced({ propagate: true });
  const files = host.own({ transport: transport() });
  const parent: SpanContext = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
    traceState: createTraceState('vendor=1,other=2'),
  };
  await context.with(trace.setSpanContext(context.active(), parent), () => files.callTool({ name: 'a' }));
  const [span] = host.recorder.calls;
  expect(metaOf('tools/call')).toEqual([
    {
      traceparent: `00-${parent.traceId}-${span?.spanContext().spanId}-01`,
      tracestate: 'vendor=1,other=2',
    },
  ]);
});

it('not sampled: the flag says so', async () => {
  const tracerProvider = new BasicTracerProvider({ sampler: new AlwaysOffSampler() });
  await using host = traced({ propagate: true, tracerProvider });
  const files = host.own({ transport: transport() });
  await files.callTool({ name: 'a' });
  expect(metaOf('tools/call')).toEqual([
    { traceparent: expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-00$/) },
  ]);
});

it('no tracer: nothing is added', async () => {
  await using host = traced({ propagate: true, tracerProvider: trace.getTracerProvider() });
  const files = host.own({ transport: transport() });
  await files.callTool({ name: 'a' });
  expect(server.arrived('tools/call').map(({ params }) => params)).toEqual([{ name: 'a' }]);
});

it('parameters that are no object reach the server as they are', async () => {
  await using host = traced({ propagate: true });
  const files = host.own({ transport: transport() });
  await files.setLoggingLevel('error');
  expect(server.arrived('logging/setLevel').map(({ params }) => params)).toEqual([{ level: 'error' }]);
});

it.each([
  ['a text', 'error'],
  ['a list', ['a']],
  ['nothing', null],
  ['a _meta that is none', { _meta: 'mine' }],
])('%s is left alone', (_what, params) => {
  const valid = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: TraceFlags.SAMPLED };
  expect(withTraceContext(params, valid)).toBe(params);
});
