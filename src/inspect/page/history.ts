/** The last steps, numbered, oldest first. */
import type { Step } from '../steps.ts';
import { factsOf } from './facts.ts';
import type { StepView } from './wire.ts';

const KEPT = 1_000;

export class History {
  #steps: StepView[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(step: Step): void {
    this.#count += 1;
    this.#steps.push(lineOf(step, this.#count));
    // Not at each step: cutting off the head moves all that is left.
    if (this.#steps.length >= 2 * KEPT) this.#steps = this.#steps.slice(-KEPT);
  }

  /** At most the last `limit` of those after number `n`. */
  since(n: number, limit = KEPT): readonly StepView[] {
    const wanted = Math.min(this.#count - n, limit, KEPT);
    return wanted > 0 ? this.#steps.slice(-wanted) : [];
  }
}

function lineOf(step: Step, n: number): StepView {
  const { at, connection, machine, actor, event, from, path, to, ignored } = step;
  const { cause, evidence, output, error } = factsOf(step.detail);
  const context = factsOf(step.context);
  return {
    n,
    at,
    connection,
    machine,
    actor,
    event,
    from,
    path,
    to,
    ignored,
    cause: cause ?? evidence?.cause ?? output?.cause ?? error?.cause,
    generation: context.generation,
    kind: context.kind,
    sends: context.sends,
  };
}
