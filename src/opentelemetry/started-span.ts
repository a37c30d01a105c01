import { INVALID_SPAN_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { quietly } from '../quietly.ts';

/** One that could not be begun is not told; what is counted beside it is counted all the same. */
export function startedSpan(start: () => Span): Span {
  return quietly(start) ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
}
