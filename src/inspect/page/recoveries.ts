/** Recoveries, as the steps of the connection machines tell them. */
import type { Supervisor } from '../../supervisor.ts';
import type { Step } from '../steps.ts';
import { factsOf } from './facts.ts';
import type { RecoveryView } from './wire.ts';

/** Of those that have ended. Those that last are no more than there are connections. */
const KEPT = 100;

export class Recoveries {
  readonly #supervisor: Supervisor;
  /** By number, those that ended first. */
  readonly #ended = new Map<number, RecoveryView>();
  /** Those that last, by connection. */
  readonly #open = new Map<string, RecoveryView>();
  #count = 0;

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /** Those that began first. */
  get all(): readonly RecoveryView[] {
    return [...this.#ended.values(), ...this.#open.values()].sort((one, other) => one.id - other.id);
  }

  /** Returns the recovery that this step began, took further or ended. */
  take(step: Step): RecoveryView | undefined {
    if (step.machine !== 'connection') return undefined;
    const recovery = step.event === 'appeared' ? this.#found(step) : this.#taken(step);
    if (recovery !== undefined) this.#keep(recovery);
    return recovery;
  }

  #taken(step: Step): RecoveryView | undefined {
    if (step.path.length === 0) return undefined;
    const before = this.#open.get(step.connection) ?? this.#begun(step);
    return before && after(before, step);
  }

  /** One that was under way when somebody began to look. */
  #found(step: Step): RecoveryView | undefined {
    const status = this.#supervisor.connections.get(step.connection)?.status;
    const found = this.#begun({ ...step, path: [step.to] });
    if (status === undefined || found === undefined) return undefined;
    const { state, since, reason, lastError, generation } = status;
    const isLoss = lastError?.cause === reason && lastError?.generation === generation;
    return {
      ...found,
      cause: reason,
      lastCause: reason,
      attempts: undefined,
      // It is recreated since somebody wanted it, which may be long after the loss.
      lostAt: isLoss ? Math.min(since, lastError.at) : since,
      wantedAt: state === 'recreating' ? since : undefined,
    };
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
    if (recovery.outcome === undefined) {
      this.#open.set(recovery.connection, recovery);
      return;
    }
    this.#open.delete(recovery.connection);
    this.#ended.set(recovery.id, recovery);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > KEPT && oldest !== undefined) this.#ended.delete(oldest);
  }
}

function after(recovery: RecoveryView, { path, to, at, context }: Step): RecoveryView {
  const { cause, generation } = factsOf(context);
  const outcome = outcomeOf(to);
  return {
    ...recovery,
    cause: recovery.cause ?? cause,
    lastCause: cause ?? recovery.lastCause,
    attempts: recovery.attempts === undefined ? undefined : recovery.attempts + dials(path),
    wantedAt: recovery.wantedAt ?? (path.some(isRecreating) ? at : undefined),
    endedAt: outcome && at,
    outcome,
    generation: outcome === 'recreated' ? generation : undefined,
  };
}

function dials(path: readonly string[]): number {
  return path.filter((state) => state.endsWith('.opening')).length;
}

/** An outage at the start is one too. */
function isRecreating(state: string): boolean {
  return state.startsWith('recreating') || state === 'connecting.backingOff';
}

function outcomeOf(state: string): RecoveryView['outcome'] {
  if (state.startsWith('ready')) return 'recreated';
  if (state.startsWith('exhausted')) return 'exhausted';
  if (state === 'failed-ownership') return 'given-back';
  if (state === 'closing' || state === 'closed') return 'closed';
  return undefined;
}
