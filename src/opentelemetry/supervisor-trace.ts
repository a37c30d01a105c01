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
    const name = step.connection;
    const trace = this.#connections.get(name) ?? new ConnectionTrace(name, this.#tracer, this.#instruments);
    if (step.ended) this.#connections.delete(name);
    else this.#connections.set(name, trace);
    trace.took(step);
  }
}
