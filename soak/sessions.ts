/** Sessions that live on a server after every connection was closed. */
import type { FaultRecord, JournalLine } from './records.ts';
import type { Violation } from './violation.ts';

/** A DELETE is sent when a connection is lost or closed, or once the next one is there. */
const AROUND_ITS_END_MS = 6_000;
/** A shorter stop only delays a DELETE. */
const DELETE_OUTLIVES_STOP_MS = 900;

export interface SessionsLeft {
  readonly violations: Violation[];
  /** Those whose DELETE a fault may have kept from the server. */
  readonly orphaned: number;
}

export function judgeSessions(
  living: readonly string[],
  lines: readonly JournalLine[],
  faults: readonly FaultRecord[],
): SessionsLeft {
  const handshakes = lines.filter(({ event }) => event === 'initialized');
  const violations: Violation[] = [];
  let orphaned = 0;
  for (const session of living) {
    const index = handshakes.findIndex((line) => line.session === session);
    const begun = handshakes[index];
    // Its id may never have reached the client.
    if (begun?.connection === undefined) continue;
    const slot = slotOf(begun.connection);
    const next = handshakes.slice(index + 1).find(({ connection = '' }) => slotOf(connection) === slot);
    if (next !== undefined && faults.some((fault) => hinders(fault, slot, next.at))) orphaned++;
    else {
      violations.push({
        rule: 'session left',
        connection: begun.connection,
        detail: `session ${session} lives, without a DELETE`,
        at: next?.at ?? begun.at,
        lines: [begun, ...(next ? [next] : [])],
      });
    }
  }
  return { violations, orphaned };
}

/** A place has one connection after the other. */
function slotOf(connection: string): string {
  return connection.slice(0, connection.indexOf('#'));
}

function hinders({ fault, from, to }: FaultRecord, slot: string, endedAt: number): boolean {
  if (from > endedAt + AROUND_ITS_END_MS || to < endedAt - AROUND_ITS_END_MS) return false;
  switch (fault.kind) {
    case 'stop':
      return fault.ms >= DELETE_OUTLIVES_STOP_MS;
    case 'reset':
    case 'cut':
    case 'stall':
    case 'refuse':
    case '502':
    case '429':
      return !slot.endsWith('-direct');
    default:
      return false;
  }
}
