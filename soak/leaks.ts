/** What is left after `close()`: processes, sessions, sockets, handles and listeners. */
import { isOurs } from '../test/support/processes.ts';
import { type JournalLine, readLines } from './records.ts';
import type { Site } from './site.ts';
import type { Rule, Violation } from './violation.ts';

/** `fetch` keeps an idle socket for some seconds; whoever is closed does not own that pool. */
const IDLE_LIMIT_MS = 15_000;
const LOOK_EVERY_MS = 100;

/** What keeps this process alive, by kind; and its own listeners. */
export function held(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const listeners = process.eventNames().map((name) => process.listenerCount(name));
  return counts.set(
    'listener of process',
    listeners.reduce((sum, count) => sum + count, 0),
  );
}

export interface Left {
  readonly violations: Violation[];
  /** Sessions of generations that were lost to a fault, and whose DELETE may not have reached the server. */
  readonly orphanedSessions: number;
}

export async function whatIsLeft(sites: readonly Site[], before: ReadonlyMap<string, number>): Promise<Left> {
  const violations: Violation[] = [];
  let orphanedSessions = 0;
  for (const site of sites) {
    violations.push(...processesLeft(site));
    const left = await sessionsLeft(site);
    violations.push(...left.violations);
    orphanedSessions += left.orphanedSessions;
    violations.push(...(await socketsLeft(site)));
  }
  violations.push(...(await resourcesLeft(before)));
  return { violations, orphanedSessions };
}

function processesLeft({ name, http, journal }: Site): Violation[] {
  if (http !== undefined) return [];
  const pids = new Set(readLines<JournalLine>(journal).map(({ pid }) => pid));
  return [...pids]
    .filter((pid) => isOurs(pid, journal))
    .map((pid) => left('process left', `${name}: pid ${pid} lives`));
}

/** A session that was current at the end was ended while all worked. */
async function sessionsLeft({ name, http, journal, slots }: Site): Promise<Left> {
  if (http === undefined) return { violations: [], orphanedSessions: 0 };
  const lines = readLines<JournalLine>(journal);
  const current = new Map(
    lines
      .filter(({ event }) => event === 'initialized')
      .map(({ connection, session }) => [connection, session] as const),
  );
  const living = await http.server.sessions();
  const lastOnes = slots.map(({ connection }) => current.get(connection));
  const kept = living.filter((session) => lastOnes.includes(session));
  return {
    violations: kept.map((session) =>
      left('session left', `${name}: session ${session} lives, without a DELETE`),
    ),
    orphanedSessions: living.length - kept.length,
  };
}

async function socketsLeft({ name, http }: Site): Promise<Violation[]> {
  if (http === undefined) return [];
  let open = 0;
  await within(async () => {
    open = http.proxy.sockets + (await http.server.sockets());
    return open === 0;
  });
  return open === 0 ? [] : [left('socket left', `${name}: ${open} open`)];
}

async function resourcesLeft(before: ReadonlyMap<string, number>): Promise<Violation[]> {
  let more: [string, number][] = [];
  await within(async () => {
    more = [...held()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    return more.length === 0;
  });
  return more.map(([kind, count]) =>
    left('handle or listener left', `${kind}: ${count}, and ${before.get(kind) ?? 0} before`),
  );
}

async function within(holds: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + IDLE_LIMIT_MS;
  while (!(await holds()) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function left(rule: Rule, detail: string): Violation {
  return { rule, detail, at: Date.now() };
}
