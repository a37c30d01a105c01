// Telemetry that throws breaks no call; and once the supervisor is closed, nobody is told anything.
import type { Meter, MeterProvider, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import { metrics, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import type { Inspection } from '../../src/inspection.ts';
import { openTelemetry } from '../../src/opentelemetry/index.ts';
import type { Telemetry } from '../../src/telemetry.ts';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { until } from '../support/until.ts';
import { Recorder, traced } from './traced.ts';

expectNoCrashes();
afterEach(() => {
  trace.disable();
  metrics.disable();
});

const boom = (): never => {
  throw new Error('boom of the provider');
};

/** Whatever is called on it throws. */
const throws = <T>(): T => new Proxy({}, { get: () => boom }) as T;

const recorder = () => new Recorder();
const tracerOf = (tracer: Partial<Tracer>): TracerProvider => ({ getTracer: () => tracer as Tracer });

it.each<[string, () => { tracerProvider: TracerProvider; meterProvider: MeterProvider }]>([
  ['tracer provider', () => ({ ...recorder(), tracerProvider: throws() })],
  ['meter provider', () => ({ tracerProvider: recorder().tracerProvider, meterProvider: throws() })],
  [
    'tracer',
    () => ({ tracerProvider: tracerOf({ startSpan: boom }), meterProvider: recorder().meterProvider }),
  ],
  [
    'span',
    () => ({
      tracerProvider: tracerOf({ startSpan: () => throws<Span>() }),
      meterProvider: recorder().meterProvider,
    }),
  ],
  [
    'counter',
    () => {
      const instrument = () => throws();
      const meter = {
        createCounter: instrument,
        createHistogram: instrument,
        createUpDownCounter: instrument,
      };
      return {
        tracerProvider: recorder().tracerProvider,
        meterProvider: { getMeter: () => meter as unknown as Meter },
      };
    },
  ],
])('a %s that throws: calls are answered, and a lost connection is recreated', async (_what, providers) => {
  await using server = await FaultServer.start();
  await using supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: openTelemetry({ ...providers(), propagate: true }),
  });
  const files = supervisor.own('files', { transport: server.target });
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  await server.evict();
  await files.callTool({ name: 'append', arguments: { key: 'b' } });
  expect(files.generation).toBe(2);
  expect(server.counts().executions).toEqual({ a: 1, b: 1 });
});

it('a span that could not be begun: its operation is not taken for that of another call', async () => {
  await using server = await FaultServer.start();
  await using recorder = new Recorder();
  const tracer = recorder.tracerProvider.getTracer('test');
  const picky: Partial<Tracer> = {
    startSpan: (name, options) => (name === 'ping' ? boom() : tracer.startSpan(name, options)),
  };
  await using supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: openTelemetry({ tracerProvider: tracerOf(picky), meterProvider: recorder.meterProvider }),
  });
  await server.when('initialize', 'hold');
  const files = supervisor.own('files', { transport: server.target });
  const list = files.listTools();
  const abort = new AbortController();
  const ping = rejection(files.ping({ signal: abort.signal }));
  abort.abort();
  await ping;
  const [waiting] = await recorder.points('mcp_steward.operations.waiting');
  expect(waiting?.value).toBe(1);
  await server.when('initialize', 'answer');
  await list;
});

it.each([
  ['at the start of a span', { onStart: boom, onEnd: () => {} }],
  ['at its end', { onStart: () => {}, onEnd: boom }],
])('a span processor that throws %s: what is counted is counted all the same', async (_when, hooks) => {
  await using server = await FaultServer.start();
  await using recorder = new Recorder();
  const broken = { ...hooks, forceFlush: async () => {}, shutdown: async () => {} };
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [broken] });
  const supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: openTelemetry({ tracerProvider, meterProvider: recorder.meterProvider }),
  });
  const files = supervisor.own('files', { transport: server.target });
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  await server.evict();
  await files.callTool({ name: 'append', arguments: { key: 'b' } });
  await server.when('tools/call', 'lose-answer');
  await rejection(files.callTool({ name: 'append', arguments: { key: 'c' } }));
  await supervisor.close();
  const sums = async (name: string) => {
    const values = (await recorder.points(name)).map(({ value }) => Object(value).count ?? value);
    return values.reduce((sum: number, value: number) => sum + value, 0);
  };
  expect({
    calls: await sums('mcp.client.operation.duration'),
    inFlight: await sums('mcp_steward.operations.in_flight'),
    recreations: await sums('mcp_steward.recreations'),
    recoveries: await sums('mcp_steward.recovery.duration'),
    unknown: await sums('mcp_steward.unknown_outcomes'),
  }).toEqual({ calls: 3, inFlight: 0, recreations: 1, recoveries: 1, unknown: 1 });
});

it('a hook that rejects harms nobody', async () => {
  await using server = await FaultServer.start();
  const hook = async () => boom();
  const observer = {
    sent: hook,
    failed: hook,
    during: <Result>(send: () => Result) => send(),
    inTrouble: hook,
    answered: hook,
    rejected: hook,
  };
  await using supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: {
      attach: () => ({ callBegan: ({ params }) => ({ ...observer, params }), detach: hook as () => void }),
    },
  });
  const files = supervisor.own('files', { transport: server.target });
  await files.ping();
  await server.evict();
  await files.ping();
});

it('the global providers, also when they were set after the telemetry was made', async () => {
  await using late = new Recorder();
  await using server = await FaultServer.start();
  const telemetry = openTelemetry();
  trace.setGlobalTracerProvider(late.tracerProvider);
  metrics.setGlobalMeterProvider(late.meterProvider);
  await using supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry,
  });
  const files = supervisor.own('files', { transport: server.target });
  await files.ping();
  expect(late.calls.map(({ name }) => name)).toEqual(['ping']);
  expect(await late.points('mcp.client.operation.duration')).toHaveLength(1);
});

it('without a provider it is silent', async () => {
  await using server = await FaultServer.start();
  await using supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: openTelemetry(),
  });
  await supervisor.own('files', { transport: server.target }).ping();
});

it('detached: no look at the machines is left', async () => {
  await using host = traced();
  const looks: string[] = [];
  const inner = openTelemetry(host.recorder);
  /** Counts who looks on at the machines. */
  const counting: Telemetry = {
    attach: (inspection) => {
      const add: Inspection['add'] = (onlooker) => {
        looks.push('on');
        const remove = inspection.add(onlooker);
        return () => {
          looks.push('away');
          remove();
        };
      };
      return inner.attach({ add } as Inspection);
    },
  };
  await using server = await FaultServer.start();
  const supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: counting,
  });
  const files = supervisor.own('files', { transport: server.target });
  await until(() => files.state === 'ready');
  expect(looks).toEqual(['on']);
  await supervisor.close();
  expect(looks).toEqual(['on', 'away']);
});
