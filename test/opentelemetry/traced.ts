/** A supervisor whose spans and metrics are kept in memory by the real SDK. */
import { type Attributes, SpanKind } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import {
  type ConnectionHandle,
  createSupervisor,
  type OwnedConnection,
  type OwnOptions,
  type Supervisor,
} from '../../src/index.ts';
import { type OpenTelemetryOptions, openTelemetry } from '../../src/opentelemetry/index.ts';
import type { FaultServer } from '../../src/testing/fault-server.ts';
import { rejection } from '../support/lent.ts';

/** Read when a test asks, never by its own timer. */
const NEVER_MS = 2 ** 30;

/** Both providers, and what they were told. */
export class Recorder implements AsyncDisposable {
  readonly #spans = new InMemorySpanExporter();
  readonly tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.#spans)],
  });
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: NEVER_MS,
  });
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] });

  get spans(): ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** Those of operations, in the order in which they ended. */
  get calls(): ReadableSpan[] {
    return this.spans.filter(({ kind }) => kind === SpanKind.CLIENT);
  }

  get recreations(): ReadableSpan[] {
    return this.spans.filter(({ name }) => name === 'mcp_steward.recreate' || name === 'mcp_steward.connect');
  }

  /** Everything, as the reader got it. */
  async metrics(): Promise<
    { name: string; unit: string; points: { attributes: Attributes; value: unknown }[] }[]
  > {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics
      .filter(({ scope }) => scope.name === 'mcp-steward')
      .flatMap((scope) => scope.metrics)
      .map(({ descriptor: { name, unit }, dataPoints }) => ({
        name,
        unit,
        points: dataPoints.map(({ attributes, value }) => ({ attributes, value })),
      }));
  }

  /** What one instrument says. */
  async points(name: string): Promise<{ attributes: Attributes; value: unknown }[]> {
    return (await this.metrics()).find((metric) => metric.name === name)?.points ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tracerProvider.shutdown();
    await this.meterProvider.shutdown();
  }
}

export interface Traced extends AsyncDisposable {
  readonly recorder: Recorder;
  readonly supervisor: Supervisor;
  /** One connection with durations for tests. */
  own(options: OwnOptions): OwnedConnection;
}

export function traced(options: OpenTelemetryOptions = {}): Traced {
  const recorder = new Recorder();
  const { tracerProvider, meterProvider } = recorder;
  const supervisor = createSupervisor({
    clientInfo: { name: 'test-host', version: '1.0.0' },
    telemetry: openTelemetry({ tracerProvider, meterProvider, ...options }),
  });
  return {
    recorder,
    supervisor,
    own: ({ recovery, timeouts, ...rest }) =>
      supervisor.own('files', {
        recovery: { initialBackoffMs: 1, maxBackoffMs: 10, coolDownMs: 60_000, ...recovery },
        timeouts: { drainTimeoutMs: 1_000, closeTimeoutMs: 1_000, ...timeouts },
        ...rest,
      }),
    async [Symbol.asyncDispose]() {
      await supervisor.close();
      await recorder[Symbol.asyncDispose]();
    },
  };
}

export function append(key: string) {
  return { name: 'append', arguments: { key } };
}

/** Kills the server while it runs a tool call, which fails. */
export async function loseUnderCall(server: FaultServer, handle: ConnectionHandle): Promise<void> {
  await server.when('tools/call', 'hold');
  const call = rejection(handle.callTool(append('a')));
  await server.until('it is held', ({ held }) => held === 1);
  await server.kill();
  await call;
}

export function linkedTo(from: ReadableSpan, to: ReadableSpan): boolean {
  return from.links.some(({ context }) => context.spanId === to.spanContext().spanId);
}

export function eventsOf({ events }: ReadableSpan): string[] {
  return events.map(({ name }) => name);
}
