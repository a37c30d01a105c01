/** Recoveries, as the steps of the connection machines tell them. */
import type { Step } from '../steps.ts';
import { factsOf } from './facts.ts';
import type { RecoveryView } from './wire.ts';

const KEPT = 100;

export class Recoveries {
  readonly #known = new Map<number, RecoveryView>();
  /** Those that last, by connection. */
  readonly #open = new Map<string, RecoveryView>();
  #count = 0;

  get all(): readonly RecoveryView[] {
    return [...this.#known.values()];
  }

  /** Returns the recovery that this step began, took further or ended. */
  take(step: Step): RecoveryView | undefined {
    if (step.machine !== 'connection' || step.path.length === 0) return undefined;
    const before = this.#open.get(step.connection) ?? this.#begun(step);
    if (before === undefined) return undefined;
    const recovery = after(before, step);
    this.#keep(recovery);
    return recovery;
  }

  #begun({ path, at, connection }: Step): RecoveryView | undefined {
    if (!path.some((state) => state === 'lost' || isRecreating(state))) return undefined;
    this.#count += 1;
    return {
      id: this.#count,
      connection,
      cause: undefined,
      lastCause: undefined,
      attempts: 0,
      lostAt: at,
      wantedAt: undefined,
      endedAt: undefined,
      outcome: undefined,
      generation: undefined,
    };
  }

  #keep(recovery: RecoveryView): void {
    this.#known.set(recovery.id, recovery);
    if (recovery.outcome === undefined) this.#open.set(recovery.connection, recovery);
    else this.#open.delete(recovery.connection);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest);
  }
}

function after(recovery: RecoveryView, { path, to, at, context }: Step): RecoveryView {
  const { cause, generation } = factsOf(context);
  const outcome = outcomeOf(to);
  return {
    ...recovery,
    cause: recovery.cause ?? cause,
    lastCause: cause ?? recovery.lastCause,
    attempts: recovery.attempts + path.filter((state) => state === 'recreating.opening').length,
    wantedAt: recovery.wantedAt ?? (path.some(isRecreating) ? at : undefined),
    endedAt: outcome && at,
    outcome,
    generation: outcome === 'recreated' ? generation : undefined,
  };
}

function isRecreating(state: string): boolean {
  return state.startsWith('recreating');
}

function outcomeOf(state: string): RecoveryView['outcome'] {
  if (state.startsWith('ready')) return 'recreated';
  if (state.startsWith('exhausted')) return 'exhausted';
  if (state === 'failed-ownership') return 'given-back';
  if (state === 'closing' || state === 'closed') return 'closed';
  return undefined;
}
