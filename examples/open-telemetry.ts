/** A trace of an agent's turn in which the session was lost: the call, the recreation, and the links between them. */
import assert from 'node:assert/strict';
import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { createSupervisor } from 'mcp-steward';
import { openTelemetry } from 'mcp-steward/opentelemetry';
import { startServer } from '../test/support/http-server.ts';

// What a host sets up once, with an exporter of its own.
const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(tracerProvider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

await using server = await startServer();
await using supervisor = createSupervisor({
  clientInfo: { name: 'my-host', version: '1.0.0' },
  telemetry: openTelemetry({ propagate: true }),
});
const files = supervisor.own('files', { transport: { kind: 'http', url: server.url } });

await trace.getTracer('my-host').startActiveSpan('agent turn', async (turn: Span) => {
  await files.callTool({ name: 'append', arguments: { key: 'first' } });
  await server.restart();
  await files.callTool({ name: 'append', arguments: { key: 'second' } });
  turn.end();
});

const spans = exporter.getFinishedSpans();
for (const { name, attributes } of spans) console.log(name, attributes);

const recreation = spans.find(({ name }) => name === 'mcp_steward.recreate');
const [, second] = spans.filter(({ name }) => name === 'tools/call append');
const turn = spans.find(({ name }) => name === 'agent turn');
assert.equal(second?.parentSpanContext?.spanId, turn?.spanContext().spanId);
assert.equal(second?.attributes['mcp_steward.generation'], 2);
assert.equal(recreation?.attributes['mcp_steward.outcome'], 'ready');
assert.equal(recreation?.links[0]?.context.spanId, second?.spanContext().spanId);
assert.equal(second?.links[0]?.context.spanId, recreation?.spanContext().spanId);
