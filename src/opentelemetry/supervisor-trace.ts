/** One supervisor that is traced: brings the steps of its machines to the connection or the call that they are of. */
import type { Tracer } from '@opentelemetry/api';
import { type Step, steps } from '../inspect/steps.ts';
import type { Onlooker } from '../inspection.ts';
import type { CallFacts } from '../telemetry.ts';
import { CallSpan } from './call-span.ts';
import { ConnectionTrace } from './connection-trace.ts';
import type { Instruments } from './instruments.ts';

export class SupervisorTrace {
  readonly #tracer: Tracer;
  readonly #instruments: Instruments;
  readonly #propagate: boolean;
  /** By the session id of their machine. */
  readonly #traces = new Map<string, ConnectionTrace>();
  /** By name: a name may be taken again before the machine that had it has told its end. */
  readonly #connections = new Map<string, ConnectionTrace>();
  /** Calls in trouble, by the session id of their machine. */
  readonly #calls = new Map<string, CallSpan>();

  constructor(tracer: Tracer, instruments: Instruments, propagate: boolean) {
    this.#tracer = tracer;
    this.#instruments = instruments;
    this.#propagate = propagate;
  }

  callBegan(facts: CallFacts): CallSpan {
    return new CallSpan(facts, {
      tracer: this.#tracer,
      instruments: this.#instruments,
      connection: this.#connections.get(facts.connection),
      propagate: this.#propagate,
      runsAs: (actor, call) => this.#calls.set(actor, call),
    });
  }

  readonly onlooker: Onlooker = steps((step) => this.#took(step));

  #took(step: Step): void {
    if (step.machine === 'connection') {
      this.#connectionTook(step);
      return;
    }
    const call = this.#calls.get(step.actor);
    if (step.ended) this.#calls.delete(step.actor);
    call?.took(step);
  }

  #connectionTook(step: Step): void {
    const { actor, connection: name } = step;
    const trace = this.#traces.get(actor) ?? this.#begin(step);
    if (step.ended) {
      this.#traces.delete(actor);
      if (this.#connections.get(name) === trace) this.#connections.delete(name);
    }
    trace.took(step);
  }

  #begin({ actor, connection: name }: Step): ConnectionTrace {
    const trace = new ConnectionTrace(name, this.#tracer, this.#instruments);
    this.#traces.set(actor, trace);
    this.#connections.set(name, trace);
    return trace;
  }
}
