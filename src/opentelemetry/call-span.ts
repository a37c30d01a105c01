/** The span of one operation, from the call until its caller has a result or an error, whatever lies between. */
import {
  context,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Evidence } from '../../machines/vocabulary.ts';
import { CallerOwnedConnectionLostError, OutcomeUnknownError, SupervisorError } from '../errors.ts';
import type { Step } from '../inspect/steps.ts';
import { quietly } from '../quietly.ts';
import type { CallFacts, CallObserver } from '../telemetry.ts';
import {
  CAUSE,
  CONNECTION,
  ERROR_TYPE,
  EXECUTION,
  GENERATION,
  KIND,
  OUTCOME,
  OWNERSHIP,
  SENDS,
} from './attributes.ts';
import { type CallDescription, describeCall } from './call-description.ts';
import type { ConnectionTrace } from './connection-trace.ts';
import { errorAttributes } from './error-type.ts';
import { type Instruments, secondsSince } from './instruments.ts';
import { startedSpan } from './started-span.ts';
import { withTraceContext } from './trace-context.ts';

export interface CallSpanParts {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  /** None for a call on a handle that is closed. */
  readonly connection: ConnectionTrace | undefined;
  readonly propagate: boolean;
  /** The steps of the machine with this session id are the call's. */
  readonly runsAs: (actor: string, call: CallSpan) => void;
}

export class CallSpan implements CallObserver {
  readonly params: unknown;
  readonly #parts: CallSpanParts;
  readonly #facts: CallFacts;
  readonly #description: CallDescription;
  readonly #span: Span;
  readonly #startedAt = performance.now();
  #sends = 0;
  #generation: number | undefined;
  /** Of the last send that failed. */
  #evidence: Evidence | undefined;
  /** The final state of its machine; a call that met no trouble has none. */
  #finalState: string | undefined;
  #isInFlight = false;
  #isWaiting = false;
  #ended = false;

  constructor(facts: CallFacts, parts: CallSpanParts) {
    this.#parts = parts;
    this.#facts = facts;
    this.#description = describeCall(facts);
    const { name, attributes } = this.#description;
    this.#span = startedSpan(() => parts.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }));
    this.params = parts.propagate ? withTraceContext(facts.params, this.spanContext) : facts.params;
  }

  get spanContext(): SpanContext {
    return this.#span.spanContext();
  }

  link(to: SpanContext): void {
    if (!this.#ended) this.#span.addLink({ context: to });
  }

  sent(generation: number): void {
    this.#sends++;
    this.#generation = generation;
    this.#countInFlight(true);
    if (this.#sends === 1) return;
    this.#span.addEvent('sent again', { [GENERATION]: generation });
    this.#parts.instruments.replays.add(1, this.#labels);
  }

  failed(evidence: Evidence, generation: number): void {
    this.#evidence = evidence;
    this.#countInFlight(false);
    this.#parts.connection?.failed(this, evidence, generation);
  }

  during<Result>(send: () => Result): Result {
    return context.with(trace.setSpan(context.active(), this.#span), send);
  }

  inTrouble(actor: string): void {
    this.#parts.runsAs(actor, this);
  }

  /** A step of its machine. */
  took({ from, to, ended }: Step): void {
    if (ended) this.#finalState = to;
    if (from === to) return;
    this.#countWaiting(to === 'awaiting' || to === 'confirming');
    if (to === 'awaiting') this.#waits();
    if (from === 'awaiting') this.#parts.connection?.waitsNoMore(this);
  }

  answered(result: unknown): void {
    const { method } = this.#facts;
    const isToolError = method === 'tools/call' && (Object(result) as { isError?: unknown }).isError === true;
    this.#end('answered', isToolError ? { [ERROR_TYPE]: 'tool_error' } : undefined, this.#evidence);
  }

  rejected(error: unknown): void {
    const outcome = this.#finalState ?? outcomeOf(error, this.#evidence);
    const evidence = error instanceof SupervisorError ? error.evidence : this.#evidence;
    this.#end(outcome, errorAttributes(error, this.#evidence, outcome), evidence);
  }

  #waits(): void {
    this.#parts.connection?.waits(this);
    // The connection may answer it in this very turn; then it has not waited.
    queueMicrotask(() => {
      if (this.#isWaiting) quietly(() => this.#span.addEvent('waiting'));
    });
  }

  /** One that its caller gave up is in flight no more, whatever becomes of it. */
  #countInFlight(isInFlight: boolean): void {
    if (isInFlight === this.#isInFlight) return;
    this.#isInFlight = isInFlight;
    this.#parts.instruments.inFlight.add(isInFlight ? 1 : -1, this.#place);
  }

  #countWaiting(isWaiting: boolean): void {
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    this.#parts.instruments.waiting.add(isWaiting ? 1 : -1, this.#place);
  }

  get #place() {
    return { [CONNECTION]: this.#facts.connection, [OWNERSHIP]: this.#facts.ownership };
  }

  get #labels() {
    return { [CONNECTION]: this.#facts.connection, [KIND]: this.#facts.kind };
  }

  #end(
    outcome: string,
    failure: ReturnType<typeof errorAttributes> | undefined,
    evidence: Evidence | undefined,
  ): void {
    this.#ended = true;
    // First, and apart: a span processor may throw, and so may a meter.
    quietly(() => this.#count(outcome, failure));
    this.#span.setAttributes({ [OUTCOME]: outcome, [SENDS]: this.#sends, ...failure });
    if (this.#generation !== undefined) this.#span.setAttribute(GENERATION, this.#generation);
    if (evidence !== undefined) {
      this.#span.setAttributes({ [CAUSE]: evidence.cause, [EXECUTION]: evidence.execution });
    }
    if (failure !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }

  #count(outcome: string, failure: ReturnType<typeof errorAttributes> | undefined): void {
    this.#countInFlight(false);
    const { operationDuration, unknownOutcomes } = this.#parts.instruments;
    operationDuration.record(secondsSince(this.#startedAt), {
      ...this.#description.attributes,
      ...failure,
      [OUTCOME]: outcome,
    });
    if (outcome === 'unknown-outcome') unknownOutcomes.add(1, this.#labels);
  }
}

/**
 * Of a call that came to no machine, because its connection is closed or its signal was already aborted; and of one
 * that ended when nobody looked on at its machine any more.
 */
function outcomeOf(error: unknown, evidence: Evidence | undefined): string {
  if (error instanceof OutcomeUnknownError) return 'unknown-outcome';
  if (error instanceof CallerOwnedConnectionLostError) return 'refused';
  if (error instanceof SupervisorError) return 'unavailable';
  return evidence === undefined || evidence.cause === 'aborted' ? 'cancelled' : 'passed-through';
}
