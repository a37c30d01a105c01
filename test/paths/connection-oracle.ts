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
  if (event.startsWith('no server')) return 'unreachable';
  if (event.startsWith('retiring failed')) return 'not-ended';
  const causes: Partial<Record<ConnectionEventName, Cause>> = {
    'lost, rejected': 'session-rejected',
    'lost, closed': 'connection-closed',
    unverified: 'not-connected',
    'open failed': 'unreachable',
    'open failed, and the server asks to wait': 'http-error',
    'open failed, and the server asks for too long a wait': 'http-error',
    'open failed, unauthorized': 'unauthorized',
    'open failed for good': 'http-refused',
  };
  return causes[event];
}

const ASKED_MS: Partial<Record<ConnectionEventName, number>> = {
  'open failed, and the server asks to wait': 7_000,
  'open failed, and the server asks for too long a wait': 60_001,
};

function isSaidByTheServer(cause: Cause | null): boolean {
  return cause === 'session-unknown' || cause === 'session-rejected';
}

export class ConnectionOracle {
  state: ConnectionStateName;
  generation = 0;
  /** Why the connection is not ready. */
  cause: Cause | null = null;
  /** Dials since they were given back. */
  dials = 0;
  /** The same, without what answers have given back. */
  dialsSinceStable = 0;
  /** An operation has demanded this recreation. */
  isWanted = false;
  suspicion: Cause | null = null;
  /** It has been ready for long enough. */
  isStable = false;
  /** Of this stay in `connecting`. */
  windowIsOver = false;
  /** The same. */
  firstReadyIsOver = false;
  /** The same: how many dials in a row found no server. */
  dialsWithoutServer = 0;
  /** Of this stay in `exhausted.signedOut`. */
  coolDownIsOver = false;
  /** Unanswered probes in a row. */
  missed = 0;
  readonly #input: ConnectionInput;
  /** What the server asked to wait. */
  #askedMs = 0;

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
    const { state, generation, missed, cause } = this;
    const { recreate } = this.#input;
    const noted = this.isReady
      ? [Math.min(missed, this.#input.missedProbes), this.suspicion === 'host-slept']
      : [];
    const connecting = state.startsWith('connecting')
      ? [cause !== null, this.windowIsOver, this.firstReadyIsOver, this.dialsWithoutServer]
      : [];
    const eager = recreate === 'eager' ? [this.dialsSinceStable, this.isWanted] : [];
    const mayDialAtOnce = /^(lost|recreating.backingOff)$/.test(state) && isSaidByTheServer(cause);
    return JSON.stringify([
      state,
      this.dials,
      this.#askedMs,
      generation > 0,
      mayDialAtOnce,
      this.coolDownIsOver,
      connecting,
      eager,
      noted,
    ]);
  }

  /** No operation waits for this recreation, so what answers have given back does not count. */
  get #isUnwanted(): boolean {
    return this.#input.recreate === 'eager' && !this.isWanted;
  }

  get #counted(): number {
    return this.#isUnwanted ? this.dialsSinceStable : this.dials;
  }

  /**
   * How long the delay before the next dial is at most: 100 ms twice, and then an eighth more each time, or twice as
   * much for a process; or up to 100 ms more than what the server asked for.
   */
  get backoffMs(): number {
    // While it is ready, another delay is as long.
    if (this.#askedMs > this.#input.windowMs || this.isReady) return Number.NaN;
    if (this.#askedMs > 0) return this.#askedMs + 100;
    const grows = this.#input.spawns ? [100, 100, 200, 400] : [100, 100, 112.5, 126.5625];
    return grows[this.#counted] ?? Number.NaN;
  }

  /** How long demands are refused: 10 s, or as long as the server asked to wait, and up to 100 ms. */
  get coolDownMs(): number {
    return Math.max(10_000, this.#askedMs > 0 ? this.#askedMs + 100 : 0);
  }

  /** It is time to say that no server is there. */
  get saysServerIsMissing(): boolean {
    return this.firstReadyIsOver && this.dialsWithoutServer === 3;
  }

  /** How long the delay before the next probe is: 1 s, doubled up to `busySilenceMs`, which is 3 s. */
  get probeDistanceMs(): number {
    return [0, 1_000, 2_000][this.missed] ?? 3_000;
  }

  /** How long the delay before a server that is gone is asked again is at most: as that before a dial. */
  get nextAttemptMs(): number {
    if (!this.isReady) return Number.NaN;
    const grows = this.#input.spawns ? [0, 100, 200, 400, 800] : [0, 100, 112.5, 126.5625, 142.3828125];
    return grows[this.missed] ?? Number.NaN;
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
    if (!this.state.startsWith('connecting') || !from.startsWith('connecting')) {
      this.windowIsOver = false;
      this.firstReadyIsOver = false;
      this.dialsWithoutServer = 0;
    }
    if (this.state !== 'exhausted.signedOut') this.coolDownIsOver = false;
    if (from !== row.to) this.#countDial();
    return row;
  }

  #count(event: ConnectionEventName, row: Row, from: ConnectionStateName): void {
    switch (row.on) {
      case 'opened':
      case 'verified':
        this.generation++;
        this.#askedMs = 0;
        this.isStable = false;
        this.isWanted = false;
        break;
      case 'open failed':
      case 'open failed, unauthorized':
      case 'open failed for good':
      case 'retiring failed':
      case 'retiring failed for good':
        this.#askedMs = ASKED_MS[event] ?? 0;
        this.dialsWithoutServer = event === 'open failed' ? Math.min(3, this.dialsWithoutServer + 1) : 0;
        break;
      case 'after stable':
        this.isStable = true;
        this.#giveBack();
        break;
      case 'after firstReady':
        this.firstReadyIsOver = true;
        break;
      case 'answered':
        this.dials = 0;
        break;
      case 'after window':
        this.windowIsOver = true;
        break;
      case 'reconnect':
      case 'authorized':
        this.#giveBack();
        break;
      case 'after coolDown':
        if (row.to === 'exhausted.signedOut') this.coolDownIsOver = row.anew !== true;
        else if (row.to !== 'exhausted.cooled') this.#allowOneTrial();
        break;
      case 'demand':
        if (from === 'exhausted.cooled') this.#allowOneTrial();
        else if (row.to.startsWith('recreating')) this.isWanted = true;
        break;
      default:
        if (event.startsWith('unanswered') || event === 'no server') this.missed++;
    }
  }

  #giveBack(): void {
    this.dials = 0;
    this.dialsSinceStable = 0;
  }

  #allowOneTrial(): void {
    this.dials = this.#input.maxAttempts - 1;
    this.dialsSinceStable = this.dials;
    this.#askedMs = 0;
  }

  #explain(event: ConnectionEventName, wasReady: boolean): void {
    if (this.isReady) this.cause = null;
    else if (wasReady && event === 'reconnect') this.cause = 'requested';
    else if (wasReady && event === 'replaced') this.cause = 'replaced';
    else this.cause = causeOf(event) ?? this.cause;
  }

  /** A dial begins with the end of what it could clash with. */
  #countDial(): void {
    if (this.state !== 'connecting.opening' && this.state !== 'recreating.retiring') return;
    this.dials++;
    this.dialsSinceStable = Math.min(this.#input.maxAttempts, this.dialsSinceStable + 1);
  }

  #holds(condition: string, event: ConnectionEventName): boolean {
    const { maxAttempts, recreate, missedProbes, spawns, signsIn } = this.#input;
    const [, policy, execution] = event.split(', ');
    const words: Record<string, boolean> = {
      eager: recreate === 'eager',
      'on demand': recreate === 'on-demand',
      once: !this.#isOver(event),
      'no failure': this.cause === null,
      'no wait': this.dials === 0 && this.#askedMs === 0 && (spawns || isSaidByTheServer(this.cause)),
      unwanted: this.#isUnwanted,
      'signs in': signsIn,
      'budget left': this.#counted < maxAttempts,
      'budget spent': this.#counted >= maxAttempts,
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

  #isOver(event: ConnectionEventName): boolean {
    switch (event) {
      case 'after stable':
        return this.isStable;
      case 'after firstReady':
        return this.firstReadyIsOver;
      case 'after coolDown':
        return this.coolDownIsOver;
      default:
        return this.windowIsOver;
    }
  }
}
