/**
 * The span of one recreation: from leaving for `recreating` until the connection is ready, exhausted or closed. Before
 * the first generation: of what follows the first dial that failed.
 */
import { type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { Cause } from '../../machines/vocabulary.ts';
import {
  ATTEMPT,
  ATTEMPTS,
  CAUSE,
  CONNECTION,
  ERROR_TYPE,
  GENERATION_FROM,
  GENERATION_TO,
  OUTCOME,
  OWNERSHIP,
} from './attributes.ts';
import type { CallSpan } from './call-span.ts';
import { startedSpan } from './started-span.ts';

export interface RecreationEnd {
  readonly outcome: 'ready' | 'exhausted' | 'closed';
  /** The generation that was made, if one was. */
  readonly generation: number | undefined;
  /** Why there is none. */
  readonly cause: Cause | undefined;
}

export class Recreation {
  /** There was a generation before. */
  readonly isOfExisting: boolean;
  readonly #span: Span;
  readonly #linked = new Set<CallSpan>();
  #attempts = 0;

  /** Whoever asked for it, it is nobody's part: many calls may wait for it, and it may outlive them all. */
  constructor(tracer: Tracer, connection: string, generation: number, cause: Cause | undefined) {
    const attributes = {
      [CONNECTION]: connection,
      [OWNERSHIP]: 'supervisor',
      [GENERATION_FROM]: generation,
      ...(cause === undefined ? {} : { [CAUSE]: cause }),
    };
    this.isOfExisting = generation > 0;
    const name = this.isOfExisting ? 'mcp_steward.recreate' : 'mcp_steward.connect';
    this.#span = startedSpan(() =>
      tracer.startSpan(name, { kind: SpanKind.INTERNAL, root: true, attributes }),
    );
  }

  /** Both ways, where the call's span is still open. */
  link(call: CallSpan): void {
    if (this.#linked.has(call)) return;
    this.#linked.add(call);
    this.#span.addLink({ context: call.spanContext });
    call.link(this.#span.spanContext());
  }

  dialled(): void {
    this.#attempts++;
    this.#span.addEvent('dial', { [ATTEMPT]: this.#attempts });
  }

  dialFailed(cause: Cause | undefined): void {
    const why = cause === undefined ? {} : { [CAUSE]: cause };
    this.#span.addEvent('dial failed', { [ATTEMPT]: this.#attempts, ...why });
  }

  end({ outcome, generation, cause }: RecreationEnd): void {
    this.#span.setAttributes({ [OUTCOME]: outcome, [ATTEMPTS]: this.#attempts });
    if (generation !== undefined) this.#span.setAttribute(GENERATION_TO, generation);
    if (outcome === 'exhausted') {
      this.#span.setAttribute(ERROR_TYPE, cause ?? '_OTHER');
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
