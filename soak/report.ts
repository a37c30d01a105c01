/** What a run came to, for people and as JSON. */
import type { CallRecord, FaultRecord, JournalLine } from './records.ts';
import type { Rule, Violation } from './violation.ts';

/** Of one rule, so many are shown whole. */
const SHOWN_OF_EACH_RULE = 5;

export interface Report {
  readonly subject: string;
  readonly seed: number;
  readonly seconds: number;
  readonly calls: number;
  readonly callsPerSecond: number;
  /** By kind and how they ended. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly executions: number;
  readonly recreations: number;
  readonly orphanedSessions: number;
  /** Milliseconds that calls took which came while their connection was not ready, and were answered. */
  readonly recovery: Times;
  /** The same, from when the last fault at their site had ended: what is left is not the monkey's. */
  readonly afterLastFault: Times;
  /** MB after a full collection: once it was warm, at the end. */
  readonly heap: { readonly warm: number; readonly end: number };
  readonly violations: Readonly<Partial<Record<Rule, number>>>;
  /** The first of each rule. */
  readonly shown: readonly Violation[];
}

export interface Times {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

export interface Facts {
  readonly subject: string;
  readonly seed: number;
  readonly seconds: number;
  readonly calls: readonly CallRecord[];
  readonly journals: ReadonlyMap<string, readonly JournalLine[]>;
  readonly faults: readonly FaultRecord[];
  readonly recreations: number;
  readonly orphanedSessions: number;
  readonly heap: Report['heap'];
  readonly violations: readonly Violation[];
}

export function report(facts: Facts): Report {
  const { subject, seed, seconds, calls, journals, faults, recreations, orphanedSessions, heap, violations } =
    facts;
  const waited = calls.filter((call) => call.waited && call.error === undefined);
  const rules = [...new Set(violations.map(({ rule }) => rule))];
  return {
    subject,
    seed,
    seconds: Math.round(seconds * 10) / 10,
    calls: calls.length,
    callsPerSecond: Math.round(calls.length / seconds),
    outcomes: counted(calls.map(({ kind, error }) => `${kind}: ${error?.label ?? 'answered'}`)),
    faults: counted(faults.map(({ fault }) => fault.kind)),
    executions: [...journals.values()].flat().filter(({ event }) => event === 'run').length,
    recreations,
    orphanedSessions,
    recovery: times(waited.map(({ startedAt, settledAt }) => settledAt - startedAt)),
    afterLastFault: times(waited.map((call) => call.settledAt - lastFaultBefore(call, faults))),
    heap,
    violations: counted(violations.map(({ rule }) => rule)),
    shown: rules.flatMap((rule) =>
      violations.filter((each) => each.rule === rule).slice(0, SHOWN_OF_EACH_RULE),
    ),
  };
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function times(all: readonly number[]): Times {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { calls: sorted.length, p50: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? 0 };
}

/** When the last fault had ended that ended before the call did; the call's start, where that was later. */
function lastFaultBefore({ site, startedAt, settledAt }: CallRecord, faults: readonly FaultRecord[]): number {
  const ends = faults.filter((fault) => fault.site === site && fault.to <= settledAt).map(({ to }) => to);
  return Math.max(startedAt, ...ends);
}

export function text(result: Report): string {
  const { subject, seed, recovery: waits, heap } = result;
  return [
    `Soak of ${subject}, seed ${seed}: ${result.calls} calls in ${result.seconds} s (${result.callsPerSecond} a second)`,
    section('Calls', result.outcomes),
    section('Faults', result.faults),
    `${result.executions} executions, ${result.recreations} recreations, ` +
      `${result.orphanedSessions} sessions orphaned by faults`,
    `${waits.calls} calls waited for their connection: ${spread(waits)}; ` +
      `from the end of the last fault at their site: ${spread(result.afterLastFault)}`,
    `Heap: ${heap.warm.toFixed(1)} MB when warm, ${heap.end.toFixed(1)} MB at the end`,
    ...(result.shown.length === 0
      ? ['No violation.']
      : [section('VIOLATIONS', result.violations), ...result.shown.map((each) => shown(each, seed))]),
  ].join('\n');
}

function spread({ p50, p99, worst }: Times): string {
  return `median ${p50} ms, p99 ${p99} ms, worst ${worst} ms`;
}

function section(title: string, counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts).map(([word, count]) => `  ${String(count).padStart(8)}  ${word}`);
  return [`${title}:`, ...rows].join('\n');
}

function shown(
  { rule, connection, call, detail, at, lines = [], faults = [] }: Violation,
  seed: number,
): string {
  const where = [connection && `connection ${connection}`, call && `call ${call}`].filter(Boolean).join(', ');
  return [
    `- ${rule} (seed ${seed}${where && `, ${where}`}, ${new Date(at).toISOString()}): ${detail}`,
    ...lines.map((line) => `    ${JSON.stringify(line)}`),
    ...faults.map(({ fault, from, to }) => `    from ${from} to ${to}: ${JSON.stringify(fault)}`),
  ].join('\n');
}
