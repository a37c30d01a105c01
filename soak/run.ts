/** One run: servers, connections, callers and monkeys; then everything is closed and judged. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { Callers } from './callers.ts';
import { Lateness } from './lateness.ts';
import { held, whatIsLeft } from './leaks.ts';
import { Monkey } from './monkey.ts';
import { Naive } from './naive.ts';
import { judge } from './oracle.ts';
import { handsOf } from './plan.ts';
import { type CallRecord, type FaultRecord, type JournalLine, RecordFile, readLines } from './records.ts';
import { type Report, report } from './report.ts';
import { signal } from './server-process.ts';
import { connect, httpSite, type Site, type Slot, stdioSite } from './site.ts';
import { Steward } from './steward.ts';
import type { Rule, Violation } from './violation.ts';
import { Watch } from './watch.ts';

export interface SoakOptions {
  readonly subject: 'steward' | 'naive';
  readonly seed: number;
  /** How long the callers call; or until there were so many calls. */
  readonly seconds: number | undefined;
  readonly calls: number | undefined;
  readonly progress: (line: string) => void;
}

const CALLERS_OF_EACH = 8;
const LOOK_EVERY_MS = 100;
const PROGRESS_EVERY_MS = 10_000;
/** Until then everything that is loaded or made once has been. */
const WARM_SHARE = 0.2;
const WARM_LIMIT_MS = 15_000;
/** Calls that nobody gave up have this long. */
const SETTLE_LIMIT_MS = 30_000;
const USABLE_LIMIT_MS = 60_000;
const CLOSE_LIMIT_MS = 30_000;
/** From when nothing is wrong any more; a recovery may rest for 30 s before its next trial. */
const ACT_LIMIT_MS = 60_000;
const HEAP_GROWTH_LIMIT_MB = 12;
/**
 * The SDK gives one signal to every `fetch` of a connection, and `fetch` lets go of it when it is collected. A raw
 * client that pings 2 000 times in a row has the same warning; 1 500 is a limit that only `fetch` sets.
 */
const OF_FETCH = /abort listeners added to \[AbortSignal\]\. MaxListeners is 1500\./;

export async function soak(options: SoakOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'steward-soak-'));
  const kinds = ['json', 'sse', 'resumable', 'legacy', 'modern'] as const;
  const overHttp = await Promise.all(kinds.map((kind) => httpSite(kind, folder)));
  const sites = [...overHttp, stdioSite('stdio-1', folder), stdioSite('stdio-2', folder)];
  // A process that is stopped does not end by itself.
  const killAll = () => {
    for (const { pid } of sites) signal(pid(), 'SIGKILL');
  };
  process.once('exit', killAll);
  let keepJournals = true;
  try {
    const result = await run(options, sites, folder);
    keepJournals = result.shown.length > 0;
    return result;
  } finally {
    process.off('exit', killAll);
    killAll();
    for (const { http } of sites) http?.proxy.refuse();
    if (keepJournals) options.progress(`The journals are in ${folder}`);
    else rmSync(folder, { recursive: true });
  }
}

async function run(options: SoakOptions, sites: readonly Site[], folder: string): Promise<Report> {
  const { seed, progress } = options;
  const violations: Violation[] = [];
  const found = (rule: Rule, detail: string, connection?: string) =>
    violations.push({ rule, detail, at: Date.now(), ...(connection && { connection }) });
  const onWarning = (warning: Error) => {
    if (!OF_FETCH.test(warning.message)) found('warning', `${warning.name}: ${warning.message}`);
  };
  process.on('warning', onWarning);
  const before = held();

  const watch = new Watch();
  const subject = options.subject === 'naive' ? new Naive() : new Steward(watch);
  for (const site of sites) connect(site, subject, folder);
  const slots = sites.flatMap((site) => site.slots);
  await Promise.all(slots.map((slot) => use(slot, USABLE_LIMIT_MS)));

  const calls = new RecordFile<CallRecord>(join(folder, 'calls.jsonl'));
  const faults = new RecordFile<FaultRecord>(join(folder, 'faults.jsonl'));
  const lateness = new Lateness();
  const callers = new Callers(calls, lateness);
  const startedAt = Date.now();
  callers.start(slots, CALLERS_OF_EACH, seed);
  const monkeys = sites.flatMap((site) =>
    handsOf({ overHttp: site.http !== undefined }).map((hand) => new Monkey(site, hand, faults, seed)),
  );
  const warm = await untilDone(
    options,
    startedAt,
    () => calls.count,
    () => progress(`${calls.count} calls, ${faults.count} faults, ${watch.recreations} recreations`),
  );
  const unended = await Promise.all(monkeys.map((monkey) => monkey.stop(ACT_LIMIT_MS)));
  for (const connection of unended.flat()) {
    found('close() or reconnect() did not end', `after ${ACT_LIMIT_MS} ms`, connection);
  }
  const unsettled = await callers.stop(SETTLE_LIMIT_MS);
  const seconds = (Date.now() - startedAt) / 1_000;
  lateness.stop();

  for (const slot of await notUsable(slots))
    found('not usable again', `after ${USABLE_LIMIT_MS} ms`, slot.connection);
  const end = await settledHeap();
  if (end - warm > HEAP_GROWTH_LIMIT_MB) found('memory grows', `from ${warm} to ${end} MB`);
  const closed = await Promise.race([
    subject.close().then(() => true),
    wait(CLOSE_LIMIT_MS, false, { ref: false }),
  ]);
  if (!closed) found('close() or reconnect() did not end', `after ${CLOSE_LIMIT_MS} ms`);
  const struck = faults.readAll();
  const left = await whatIsLeft(sites, struck, before);
  process.off('warning', onWarning);

  const journals = new Map(
    sites.map(({ name, journal }) => [name, readLines<JournalLine>(journal)] as const),
  );
  const evidence = {
    calls: calls.readAll(),
    unsettled,
    journals,
    faults: struck,
    recreated: watch.generations,
  };
  return report({
    subject: options.subject,
    seed,
    seconds,
    calls: evidence.calls,
    journals,
    faults: struck,
    recreations: watch.recreations,
    orphanedSessions: left.orphaned,
    heap: { warm, end },
    violations: [...judge(evidence), ...watch.violations, ...left.violations, ...violations],
  });
}

/** Returns the heap, in MB, once it was warm. */
async function untilDone(options: SoakOptions, startedAt: number, done: () => number, progress: () => void) {
  const { seconds = Number.POSITIVE_INFINITY, calls = Number.POSITIVE_INFINITY } = options;
  const endsAt = startedAt + seconds * 1_000;
  const warmAt = startedAt + Math.min(WARM_LIMIT_MS, seconds * 1_000 * WARM_SHARE);
  let warm: number | undefined;
  let nextProgress = startedAt + PROGRESS_EVERY_MS;
  while (Date.now() < endsAt && done() < calls) {
    await wait(LOOK_EVERY_MS);
    if (warm === undefined && Date.now() >= warmAt) warm = await settledHeap();
    if (Date.now() < nextProgress) continue;
    nextProgress += PROGRESS_EVERY_MS;
    progress();
  }
  return warm ?? settledHeap();
}

/** By a request that every revision has. */
async function use({ line }: Slot, timeout: number): Promise<void> {
  await line.listTools({ cursor: 'usable' }, { timeout, maxTotalTimeout: timeout });
}

/** Those that could not be used in all that time, though nothing is wrong any more. */
async function notUsable(slots: readonly Slot[]): Promise<Slot[]> {
  const until = Date.now() + USABLE_LIMIT_MS;
  const failed = await Promise.all(
    slots.map(async (slot) => {
      while (Date.now() < until) {
        try {
          await use(slot, until - Date.now());
          return [];
        } catch {
          await wait(200);
        }
      }
      return [slot];
    }),
  );
  return failed.flat();
}

async function settledHeap(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  for (let n = 0; n < 5; n++) {
    await setImmediate();
    globalThis.gc();
  }
  return Math.round(process.memoryUsage().heapUsed / 104_857.6) / 10;
}
