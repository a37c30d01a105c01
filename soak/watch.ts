/** Compares what connections say of themselves with the table of legal transitions, which was written by hand. */
import {
  CONNECTION_ROWS,
  CONNECTION_STATES,
  type ConnectionStateName,
  isFrom,
} from '../test/paths/connection-table.ts';
import type { Watcher } from './subject.ts';
import type { Violation } from './violation.ts';

const EDGES = legalEdges();

export class Watch implements Watcher {
  readonly violations: Violation[] = [];
  /** How often, and per connection the latest generation that was said to be recreated. */
  recreations = 0;
  readonly generations = new Map<string, number>();
  readonly #states = new Map<string, string>();

  transition(connection: string, from: string, to: string): void {
    const before = this.#states.get(connection);
    this.#states.set(connection, to);
    if (to === 'closed') this.#states.delete(connection);
    if (before !== undefined && before !== from) {
      this.#illegal(connection, `it went to ${before}, then from ${from} to ${to}`);
    }
    if (!EDGES.has(`${from} ${to}`)) this.#illegal(connection, `from ${from} to ${to}`);
  }

  recreated(connection: string, generation: number): void {
    this.recreations++;
    this.generations.set(connection, generation);
  }

  #illegal(connection: string, detail: string): void {
    this.violations.push({ rule: 'illegal transition', connection, detail, at: Date.now() });
  }
}

/** Those of an owned connection; its inner states are not told. */
function legalEdges(): ReadonlySet<string> {
  const states = Object.keys(CONNECTION_STATES) as ConnectionStateName[];
  const edges = states.flatMap((state) =>
    CONNECTION_ROWS.filter((row) => row.whose !== 'lent' && isFrom(row, state)).map((row) => [state, row.to]),
  );
  return new Set(edges.map((edge) => edge.map((state) => state.split('.')[0]).join(' ')));
}
