/** W3C trace context in a request's `_meta`: written by hand, whatever propagator the host has registered. */
import { isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api';

type Fields = Readonly<Record<string, unknown>>;

/** New parameters; the caller's own stay as they are, and so does a trace context that the caller put there. */
export function withTraceContext(params: unknown, spanContext: SpanContext): unknown {
  if (!isSpanContextValid(spanContext) || !isFieldsOrNone(params)) return params;
  const meta = params?._meta;
  if (!isFieldsOrNone(meta)) return params;
  if (meta !== undefined && ('traceparent' in meta || 'tracestate' in meta)) return params;
  const { traceId, spanId, traceFlags, traceState } = spanContext;
  const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
  const tracestate = traceState?.serialize() ?? '';
  return {
    ...params,
    _meta: {
      ...meta,
      traceparent: `00-${traceId}-${spanId}-${flags}`,
      ...(tracestate === '' ? {} : { tracestate }),
    },
  };
}

function isFieldsOrNone(value: unknown): value is Fields | undefined {
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
}
