/** The operations in trouble, and how the last of them ended. */
import type { Step } from '../steps.ts';
import { factsOf } from './facts.ts';
import { trailAfter } from './trail.ts';
import type { OperationView } from './wire.ts';

/** Of those that have ended. Those that last are as many as the host lets wait. */
const KEPT = 50;

export class Operations {
  readonly #lasting = new Map<string, OperationView>();
  readonly #ended = new Map<string, OperationView>();

  /** Those that ended first. */
  get all(): readonly OperationView[] {
    return [...this.#ended.values(), ...this.#lasting.values()];
  }

  /** Returns the operation that this step is about. */
  take(step: Step): OperationView | undefined {
    if (step.machine !== 'operation') return undefined;
    const operation = after(this.#lasting.get(step.actor), step);
    if (step.ended) this.#end(operation);
    else this.#lasting.set(operation.id, operation);
    return operation;
  }

  #end(operation: OperationView): void {
    this.#lasting.delete(operation.id);
    this.#ended.set(operation.id, operation);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > KEPT && oldest !== undefined) this.#ended.delete(oldest);
  }
}

function after(before: OperationView | undefined, step: Step): OperationView {
  const { kind, policy, sends = 0, evidence, unavailability } = factsOf(step.context);
  return {
    id: step.actor,
    connection: step.connection,
    kind,
    policy,
    state: step.to,
    sends,
    since: before?.since ?? step.since ?? step.at,
    endedAt: step.ended ? step.at : undefined,
    cause: evidence?.cause,
    execution: evidence?.execution,
    unavailability,
    trail: trailAfter(before?.trail ?? [], step),
  };
}
