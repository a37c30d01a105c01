/**
 * Reads the hand-written table. What its conditions need (how many dials, does anyone wait, was a heartbeat missed) is
 * counted here from what was seen from outside, never taken from the machine's context.
 */
import type { ConnectionInput } from '../../machines/connection.machine.ts';
import type { Cause } from '../../machines/vocabulary.ts';
import type { ConnectionEventName } from './connection-fixtures.ts';
import {
  CONNECTION_ROWS,
  CONNECTION_STATES,
  type Condition,
  type ConnectionStateName,
  EVENT_GROUPS,
  isFrom,
  type Row,
} from './connection-table.ts';

/** May the operation that the loss struck be sent again? (design.md, "Replay policy".) */
const SENT_AGAIN: readonly ConnectionEventName[] = [
  'lost, stricken safe, not run',
  'lost, stricken safe, may have run',
  'lost, stricken if-unsent, not run',
];

/** What each event says about the connection. */
const CAUSES: Partial<Record<ConnectionEventName, Cause>> = {
  ...Object.fromEntries(EVENT_GROUPS['lost (current generation)'].map((event) => [event, 'session-unknown'])),
  'probe lost': 'session-unknown',
  'probe unanswered': 'timeout',
  unverified: 'not-connected',
  'open failed': 'unreachable',
  'open failed, and the server asks to wait': 'http-error',
  'open failed for good': 'unauthorized',
};

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
  readonly #input: ConnectionInput;
  #askedToWait = false;
  #waitsForProbe = false;
  #missed = 0;

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

  /** What tells two configurations of the table apart. */
  get key(): string {
    const { state, dials } = this;
    const isHeartbeat = state === 'ready.probing' && this.suspicion === 'heartbeat';
    const noted = state.startsWith('ready') ? [this.#waitsForProbe, this.#missed] : [];
    return JSON.stringify([state, dials, this.#askedToWait, noted, isHeartbeat]);
  }

  /** How long the delay before the next dial is: 100 ms, doubled each time up to 400, or what the server asked for. */
  get backoffMs(): number {
    if (this.#askedToWait) return 7_000;
    return [100, 100, 200, 400][this.dials] ?? 400;
  }

  /** The row that says what the event leads to; none if it is illegal. */
  rowFor(event: ConnectionEventName): Row | undefined {
    const whose = this.#input.ownership === 'supervisor' ? 'own' : 'lent';
    return CONNECTION_ROWS.find(
      (row) =>
        isFrom(row, this.state) &&
        (row.whose === 'any' || row.whose === whose) &&
        (EVENT_GROUPS[row.on] as readonly string[]).includes(event) &&
        (row.when === undefined || this.#holds(row.when, event)),
    );
  }

  /** The event happens. Returns its row; if there is none, nothing has changed. */
  take(event: ConnectionEventName): Row | undefined {
    const row = this.rowFor(event);
    if (row === undefined) return undefined;
    const from = this.state;
    this.state = row.to;
    switch (event) {
      case 'opened':
      case 'verified':
        this.generation++;
        this.#askedToWait = false;
        this.#waitsForProbe = false;
        this.#missed = 0;
        this.isStable = false;
        break;
      case 'open failed, and the server asks to wait':
        this.#askedToWait = true;
        break;
      case 'open failed':
      case 'open failed for good':
        this.#askedToWait = false;
        break;
      case 'after stable':
        this.isStable = true;
        this.dials = 0;
        break;
      case 'reconnect':
        this.dials = 0;
        break;
      case 'demand':
        if (from === 'ready.probing') this.#waitsForProbe = true;
        // A trial is one attempt.
        if (from === 'exhausted.cooled') {
          this.dials = this.#input.maxAttempts - 1;
          this.#askedToWait = false;
        }
        break;
      case 'probe unanswered':
        this.#missed++;
        break;
      case 'probe answered':
      case 'probe unanswered while busy':
        this.#missed = 0;
        break;
    }
    if (row.to === 'ready.steady' && from === 'ready.probing') this.#waitsForProbe = false;
    if (row.on === 'suspected, and worth a probe') this.suspicion = suspicionOf(event);
    this.#explain(event, from);
    if (from !== row.to) this.#countDial();
    return row;
  }

  #explain(event: ConnectionEventName, from: ConnectionStateName): void {
    const wasReady = from === 'ready.steady' || from === 'ready.probing';
    const isReady = this.state === 'ready.steady' || this.state === 'ready.probing';
    if (isReady) this.cause = null;
    else if (wasReady && event === 'reconnect') this.cause = 'requested';
    else if (wasReady && event === 'replaced') this.cause = 'replaced';
    else this.cause = CAUSES[event] ?? this.cause;
  }

  #countDial(): void {
    if (this.facts.runs === 'dial') this.dials++;
  }

  #holds(condition: Condition, event: ConnectionEventName): boolean {
    const { maxAttempts, recreate, missedHeartbeats } = this.#input;
    const wanted = recreate === 'eager' || this.#waitsForProbe || SENT_AGAIN.includes(event);
    const words: Record<string, boolean> = {
      wanted,
      unwanted: !wanted,
      once: !this.isStable,
      'no wait': this.dials === 0 && !this.#askedToWait,
      'budget left': this.dials < maxAttempts,
      'budget spent': this.dials >= maxAttempts,
      tolerated: this.suspicion === 'heartbeat' && this.#missed + 1 < missedHeartbeats,
    };
    words['not tolerated'] = !words.tolerated;
    return condition.split(', ').every((word) => words[word]);
  }
}

function suspicionOf(event: ConnectionEventName): Cause {
  if (event === 'suspected, timeout') return 'timeout';
  return event === 'suspected, heartbeat' ? 'heartbeat' : 'deaf';
}
