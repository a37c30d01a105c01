/**
 * Reads the hand-written table. What its conditions need (how often was it sent, may it have run, has its deadline
 * passed) is counted here from what was seen from outside, never taken from the machine's context.
 */
import type { OperationInput, Unavailability } from '../../machines/operation.machine.ts';
import type { DemandedOperation, Evidence } from '../../machines/vocabulary.ts';
import { OPERATION_EVENTS, type OperationEventName } from './operation-fixtures.ts';
import {
  type CallerGets,
  type Condition,
  type EventGroup,
  meaningOf,
  OPERATION_ROWS,
  OPERATION_STATES,
  type OperationStateName,
  type Row,
} from './operation-table.ts';

/** How often an operation is sent at most. (design.md, "The machines": a second loss in a row reaches the caller.) */
const MOST_SENDS = 2;

export class OperationOracle {
  /** How it began. */
  readonly judged: Row;
  state: OperationStateName;
  /** Why it is unavailable. */
  why: Unavailability | null = null;
  /** What its last failure proves; of its execution, what all of its failures prove. */
  evidence: Evidence | null;
  /** How often it was sent in all. */
  sends: number;
  readonly asked = { demand: 0, proof: 0, send: 0 };
  readonly #input: OperationInput;
  #isOverdue = false;

  constructor(input: OperationInput) {
    this.#input = input;
    this.evidence = input.evidence;
    this.sends = input.sends;
    this.judged = this.#find('judging', groupOf(input.evidence), input.evidence)!;
    this.state = this.judged.to;
    this.#enter(this.judged);
  }

  /** As it demands the connection now, if it does. */
  get demands(): DemandedOperation {
    const { kind, policy } = this.#input;
    return { kind, policy, execution: this.evidence?.execution ?? 'unsent' };
  }

  /** What its caller gets; nothing while it is not over. */
  get callerGets(): CallerGets | undefined {
    const facts = OPERATION_STATES[this.state];
    if ('asks' in facts) return undefined;
    return typeof facts.callerGets === 'string' ? facts.callerGets : facts.callerGets[this.why!];
  }

  /** What its caller is told of its sends, where the error is one of ours. */
  get whatRan(): 'was not sent' | 'was not run by the server' | 'the server may have run it' {
    if (this.sends === 0) return 'was not sent';
    return this.evidence?.execution === 'none' ? 'was not run by the server' : 'the server may have run it';
  }

  /** The row that says what the event leads to; none if it is illegal. */
  rowFor(name: OperationEventName): Row | undefined {
    const event = OPERATION_EVENTS[name];
    if (event.type === 'failed') {
      return this.#find(this.state, groupOf(event.evidence), this.#withEarlierSends(event.evidence));
    }
    return this.#find(this.state, name as EventGroup, this.evidence);
  }

  /** The event happens. Returns its row; if there is none, nothing has changed. */
  take(name: OperationEventName): Row | undefined {
    const row = this.rowFor(name);
    if (row === undefined) return undefined;
    const event = OPERATION_EVENTS[name];
    if (event.type === 'failed') this.evidence = this.#withEarlierSends(event.evidence);
    if (event.type === 'lost' && this.evidence !== null) {
      this.evidence = { ...this.evidence, connection: 'lost' };
    }
    if (row.from === row.to) this.#isOverdue = true;
    else this.#enter(row);
    this.state = row.to;
    return row;
  }

  #enter(row: Row): void {
    const facts = OPERATION_STATES[row.to];
    this.why = row.why ?? null;
    if (!('asks' in facts)) return;
    this.asked[facts.asks]++;
    if (facts.asks === 'send') this.sends++;
  }

  /** A later send that did not run does not undo an earlier one that may have. */
  #withEarlierSends(evidence: Evidence): Evidence {
    const mayHaveRun = this.evidence?.execution === 'unknown' && evidence.execution === 'none';
    return mayHaveRun ? { ...evidence, execution: 'unknown' } : evidence;
  }

  #find(from: Row['from'], on: EventGroup, evidence: Evidence | null): Row | undefined {
    const whose = this.#input.ownership === 'supervisor' ? 'own' : 'lent';
    return OPERATION_ROWS.find(
      (row) =>
        row.from === from &&
        (row.whose === 'any' || row.whose === whose) &&
        row.on === on &&
        (row.when === undefined || this.#holds(row.when, evidence)),
    );
  }

  #holds(condition: Condition, evidence: Evidence | null): boolean {
    const { policy, admission } = this.#input;
    const words: Record<string, boolean> = {
      [policy]: true,
      [admission]: true,
      'not run': evidence?.execution === 'none',
      unanswered: evidence?.execution !== 'answered',
      'a send left': this.sends < MOST_SENDS,
      overdue: this.#isOverdue,
    };
    return condition.split(', ').every((word) => words[word] === true);
  }
}

function groupOf(evidence: Evidence | null): EventGroup {
  if (evidence === null) return 'never sent';
  return `failed: ${meaningOf(evidence)}`;
}
