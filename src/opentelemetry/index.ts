/** `mcp-steward/opentelemetry`: traces and metrics, through nothing but `@opentelemetry/api`. */
import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import type { Telemetry } from '../telemetry.ts';
import { VERSION } from '../version.ts';
import { createInstruments } from './instruments.ts';
import { SupervisorTrace } from './supervisor-trace.ts';

export interface OpenTelemetryOptions {
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Adds W3C trace context (`traceparent`, `tracestate`) to the `_meta` of requests that have parameters, unless the
   * caller has put one there. Default false: the server gets what the caller gave.
   */
  readonly propagate?: boolean | undefined;
}

const SCOPE = 'mcp-steward';

/**
 * For `createSupervisor({ telemetry })`. A client span for each operation, by OpenTelemetry's conventions for MCP; a
 * span for each recreation, linked with the operations that were stricken or waited; and metrics. Nothing of a call is
 * told but its method, and the name of its tool or prompt: no argument, result, URI, header or error message.
 *
 * ```ts
 * const supervisor = createSupervisor({ clientInfo, telemetry: openTelemetry({ propagate: true }) });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const { propagate = false } = options;
  let made: ReturnType<typeof make> | undefined;
  return {
    attach(inspection) {
      // Not before there is a supervisor: hosts set the global providers while they start.
      made ??= make(options);
      const { tracer, instruments } = made;
      const supervisor = new SupervisorTrace(tracer, instruments, propagate);
      const lookAway = inspection.add(supervisor.onlooker);
      return { callBegan: (call) => supervisor.callBegan(call), detach: lookAway };
    },
  };
}

function make({ tracerProvider = trace, meterProvider = metrics }: OpenTelemetryOptions) {
  return {
    tracer: tracerProvider.getTracer(SCOPE, VERSION),
    instruments: createInstruments(meterProvider.getMeter(SCOPE, VERSION)),
  };
}
