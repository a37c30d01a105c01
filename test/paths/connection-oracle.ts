/**
 * Reads the hand-written table. What its conditions need (how many dials, how many unanswered probes, was it ever
 * ready) is counted here from what was seen from outside, never taken from the machine's context.
 */
import type { ConnectionInput } from '../../machines/connection.machine.ts';
import type { Cause } from '../../machines/vocabulary.ts';
import { isIn } from './connection-events.ts';
import type { ConnectionEventName } from './connection-fixtures.ts';
import {
  CONNECTION_ROWS,
  CONNECTION_STATES,
  type ConnectionStateName,
  isFrom,
  type Row,
} from './connection-table.ts';

/** What each event says about the connection, where it is not ready after it. */
function causeOf(event: ConnectionEventName): Cause | undefined {
  if (event === 'lost' || event === 'probe lost') return 'session-unknown';
  if (event.startsWith('unanswered')) return 'timeout';
  if (event.startsWith('retiring failed')) return 'not-ended';
  const causes: Partial<Record<ConnectionEventName, Cause>> = {
    'lost, closed': 'connection-closed',
    unverified: 'not-connected',
    'open failed': 'unreachable',
    'open failed, and the server asks to wait': 'http-error',
    'open failed for good': 'unauthorized',
  };
  return causes[event];
}

export class ConnectionOracle {
  state: ConnectionStateName;
  generation = 0;
  /** Why the connection is not ready. */
  cause: Cause | null = null;
  /** Dials since they were given back. */
  dials = 0;
  suspicion: Cause | null = null;
  /** It has been ready for long enough. */
  isStable = false;
  /** Of this stay in `connecting`. */
  windowIsOver = false;
  /** Unanswered probes in a row. */
  missed = 0;
  readonly #input: ConnectionInput;
  #askedToWait = false;

  constructor(input: ConnectionInput) {
    this.#input = input;
    if (input.ownership !== 'supervisor') this.state = 'connecting.checking';
    else if (input.lazy) this.state = 'idle';
    else this.state = 'connecting.opening';
    this.#countDial();
  }

  get facts() {
    return CONNECTION_STATES[this.state];
  }

  get isReady(): boolean {
    return this.state.startsWith('ready');
  }

  /** While it is ready. */
  get noted() {
    return { misses: this.missed, suspicion: this.suspicion };
  }

  /** What tells two configurations of the table apart. */
  get key(): string {
    const { state, dials, generation, missed } = this;
    const noted = this.isReady
      ? [Math.min(missed, this.#input.missedProbes), this.suspicion === 'host-slept']
      : [];
    const failed = state.startsWith('connecting') && this.cause !== null;
    return JSON.stringify([
      state,
      dials,
      this.#askedToWait,
      generation > 0,
      this.windowIsOver,
      failed,
      noted,
    ]);
  }

  /** How long the delay before the next dial is: 100 ms, doubled each time up to 400, or what the server asked for. */
  get backoffMs(): number {
    if (this.#askedToWait) return 7_000;
    return [100, 100, 200, 400][this.dials] ?? 400;
  }

  /** How long the delay before the next probe is: 1 s, doubled up to `busySilenceMs`, which is 3 s. */
  get probeDistanceMs(): number {
    return [0, 1_000, 2_000][this.missed] ?? 3_000;
  }

  /** The row that says what the event leads to; none if it is illegal. */
  rowFor(event: ConnectionEventName): Row | undefined {
    const whose = this.#input.ownership === 'supervisor' ? 'own' : 'lent';
    return CONNECTION_ROWS.find(
      (row) =>
        isFrom(row, this.state) &&
        (row.whose === 'any' || row.whose === whose) &&
        isIn(row.on, event) &&
        (row.when === undefined || this.#holds(row.when, event)),
    );
  }

  /** The event happens. Returns its row; if there is none, nothing has changed. */
  take(event: ConnectionEventName): Row | undefined {
    const row = this.rowFor(event);
    if (row === undefined) return undefined;
    const from = this.state;
    const wasReady = this.isReady;
    this.state = row.to;
    this.#explain(event, wasReady);
    this.#count(event, row, from);
    if (event.startsWith('suspected')) this.suspicion = event.slice('suspected, '.length) as Cause;
    if (row.to === 'ready.steady' && event !== 'after stable') {
      this.missed = 0;
      this.suspicion = null;
    }
    if (!this.state.startsWith('connecting') || !from.startsWith('connecting')) this.windowIsOver = false;
    if (from !== row.to) this.#countDial();
    return row;
  }

  #count(event: ConnectionEventName, row: Row, from: ConnectionStateName): void {
    switch (row.on) {
      case 'opened':
      case 'verified':
        this.generation++;
        this.#askedToWait = false;
        this.isStable = false;
        break;
      case 'open failed':
      case 'open failed for good':
      case 'retiring failed':
      case 'retiring failed for good':
        this.#askedToWait = event === 'open failed, and the server asks to wait';
        break;
      case 'after stable':
        this.isStable = true;
        this.dials = 0;
        break;
      case 'after window':
        this.windowIsOver = true;
        break;
      case 'reconnect':
        this.dials = 0;
        break;
      case 'demand':
        if (from !== 'exhausted.cooled') break;
        // A trial is one attempt.
        this.dials = this.#input.maxAttempts - 1;
        this.#askedToWait = false;
        break;
      default:
        if (event.startsWith('unanswered')) this.missed++;
    }
  }

  #explain(event: ConnectionEventName, wasReady: boolean): void {
    if (this.isReady) this.cause = null;
    else if (wasReady && event === 'reconnect') this.cause = 'requested';
    else if (wasReady && event === 'replaced') this.cause = 'replaced';
    else this.cause = causeOf(event) ?? this.cause;
  }

  /** A dial begins with the end of what it could clash with. */
  #countDial(): void {
    if (this.state === 'connecting.opening' || this.state === 'recreating.retiring') this.dials++;
  }

  #holds(condition: string, event: ConnectionEventName): boolean {
    const { maxAttempts, recreate, missedProbes } = this.#input;
    const [, policy, execution] = event.split(', ');
    const words: Record<string, boolean> = {
      eager: recreate === 'eager',
      'on demand': recreate === 'on-demand',
      once: event === 'after stable' ? !this.isStable : !this.windowIsOver,
      'no failure': this.cause === null,
      'no wait': this.dials === 0 && !this.#askedToWait,
      'budget left': this.dials < maxAttempts,
      'budget spent': this.dials >= maxAttempts,
      'was ready': this.generation > 0,
      'never ready': this.generation === 0,
      missed: this.missed + 1 >= missedProbes,
      slept: this.suspicion === 'host-slept',
      unsent: execution === 'unsent',
      'not run': execution === 'not run',
      unanswered: execution === 'not run' || execution === 'may have run',
      safe: policy === 'safe',
      'if-unsent': policy === 'if-unsent',
    };
    return condition.split(', ').every((word) => words[word]);
  }
}
