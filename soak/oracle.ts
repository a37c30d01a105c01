/** Judges every call by what the servers wrote down. What the library says of itself is no evidence here. */
import type { CallRecord, FaultRecord, JournalLine } from './records.ts';
import type { Rule, Violation } from './violation.ts';

/** Beyond a call's deadline, and on top of the time for which this process itself was late. */
const GRACE_MS = 1_000;
/** A call that was running in a process that was killed knows at once that no answer can come. */
const DEATH_GRACE_MS = 3_000;
/** A fault of that time may still be felt. */
const SHORTLY_BEFORE_MS = 2_000;

const NOT_RUN = /was not sent\.|was not run by the server\./;

export interface Evidence {
  readonly calls: readonly CallRecord[];
  readonly unsettled: readonly Omit<CallRecord, 'settledAt' | 'lateMs'>[];
  readonly journals: ReadonlyMap<string, readonly JournalLine[]>;
  readonly faults: readonly FaultRecord[];
  /** Per connection, the latest generation that was said to be recreated. */
  readonly recreated: ReadonlyMap<string, number>;
}

export function judge({ calls, unsettled, journals, faults, recreated }: Evidence): Violation[] {
  const lines = [...journals.values()].flat();
  const byCall = linesByCall(lines);
  const deaths = new Map(
    faults.filter(({ pid }) => pid !== undefined).map(({ pid, from }) => [pid, from] as const),
  );
  return [
    ...calls.flatMap((call) => {
      const written = byCall.get(call.id) ?? [];
      return judgeCall(call, written, deaths).map(([rule, detail]) =>
        violation(rule, detail, call, written, meanwhile(faults, call, call.settledAt)),
      );
    }),
    ...unsettled.map((call) => {
      const written = byCall.get(call.id) ?? [];
      return violation(
        'never settled',
        `due at ${call.dueAt}`,
        call,
        written,
        meanwhile(faults, call, call.dueAt),
      );
    }),
    ...judgeRecreations(lines, recreated),
  ];
}

function linesByCall(lines: readonly JournalLine[]): Map<string, JournalLine[]> {
  const byCall = new Map<string, JournalLine[]>();
  for (const line of lines) {
    if (line.id === undefined) continue;
    const of = byCall.get(line.id);
    if (of === undefined) byCall.set(line.id, [line]);
    else of.push(line);
  }
  return byCall;
}

function judgeCall(
  call: CallRecord,
  lines: readonly JournalLine[],
  deaths: ReadonlyMap<number | undefined, number>,
): [Rule, string][] {
  const { kind, answer, error, settledAt, dueAt, lateMs } = call;
  const runs = lines.filter(({ event }) => event === 'run').length;
  const found: [Rule, string][] = [];
  if (kind === 'append' && runs > 1) found.push(['ran twice', `it ran ${runs} times`]);
  const questions = lines.filter(({ event }) => event === 'asked').length;
  // A safe one whose first answer was lost has not asked anybody.
  if (questions > (kind === 'append' ? 1 : 2)) found.push(['asked twice', `it asked ${questions} times`]);
  if (kind !== 'append' && runs > 2) found.push(['safe call ran more than twice', `it ran ${runs} times`]);
  if (answer !== undefined && kind !== 'ping' && runs === 0) {
    found.push(['success without an execution', 'no server ran it']);
  }
  if (answer !== undefined && answer !== '' && answer !== call.id) {
    found.push(['answer of another call', `it was answered with ${answer}`]);
  }
  if (
    error !== undefined &&
    lines.length > 0 &&
    (error.execution === 'none' || NOT_RUN.test(error.message))
  ) {
    found.push(['said not to have run, and ran', `${error.label}: ${error.message}`]);
  }
  const outcome = error === undefined ? 'answered' : `${error.label}: ${error.message}`;
  const lateBy = settledAt - dueAt;
  if (lateBy > GRACE_MS + lateMs) {
    found.push([
      'settled after its deadline',
      `${lateBy} ms late (the soak itself ${lateMs} ms); ${outcome}`,
    ]);
  }
  const diedAt = kind === 'append' ? deaths.get(lines.at(-1)?.pid) : undefined;
  const after = diedAt === undefined || call.startedAt > diedAt ? 0 : settledAt - diedAt;
  if (after > DEATH_GRACE_MS + lateMs) {
    found.push(['hung after its server had died', `${after} ms after the kill; ${outcome}`]);
  }
  return found;
}

function meanwhile(
  faults: readonly FaultRecord[],
  call: Pick<CallRecord, 'site' | 'startedAt'>,
  until: number,
) {
  const since = call.startedAt - SHORTLY_BEFORE_MS;
  return faults.filter(({ site, from, to }) => site === call.site && from <= until && to >= since);
}

function violation(
  rule: Rule,
  detail: string,
  { id, connection, startedAt }: Pick<CallRecord, 'id' | 'connection' | 'startedAt'>,
  lines: readonly JournalLine[],
  faults: readonly FaultRecord[],
): Violation {
  return { rule, connection, call: id, detail, at: startedAt, lines, faults };
}

/** For every generation the server saw a handshake; its last message may die with the process that it was sent to. */
function judgeRecreations(
  lines: readonly JournalLine[],
  recreated: ReadonlyMap<string, number>,
): Violation[] {
  const handshakes = new Map<string, number>();
  for (const { event, connection } of lines) {
    if (event !== 'initialize' || connection === undefined) continue;
    handshakes.set(connection, (handshakes.get(connection) ?? 0) + 1);
  }
  return [...recreated]
    .filter(([connection, generation]) => generation > (handshakes.get(connection) ?? 0))
    .map(([connection, generation]) => ({
      rule: 'recreated without a handshake',
      connection,
      detail: `generation ${generation}; the server saw ${handshakes.get(connection) ?? 0} handshakes`,
      at: Date.now(),
    }));
}
