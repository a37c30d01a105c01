/** What is left after `close()`: processes, sessions, sockets, handles and listeners. */
import { isOurs } from '../test/support/processes.ts';
import { type FaultRecord, type JournalLine, readLines } from './records.ts';
import { judgeSessions, type SessionsLeft } from './sessions.ts';
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

export async function whatIsLeft(
  sites: readonly Site[],
  faults: readonly FaultRecord[],
  before: ReadonlyMap<string, number>,
): Promise<SessionsLeft> {
  const violations = (await Promise.all(sites.map(socketsLeft))).flat();
  let orphaned = 0;
  for (const site of sites) {
    const lines = readLines<JournalLine>(site.journal);
    violations.push(...processesLeft(site, lines));
    const living = (await site.http?.server.sessions()) ?? [];
    const sessions = judgeSessions(
      living,
      lines,
      faults.filter((fault) => fault.site === site.name),
    );
    violations.push(...sessions.violations);
    orphaned += sessions.orphaned;
  }
  violations.push(...(await resourcesLeft(before)));
  return { violations, orphaned };
}

function processesLeft({ name, http, journal }: Site, lines: readonly JournalLine[]): Violation[] {
  if (http !== undefined) return [];
  const pids = new Set(lines.map(({ pid }) => pid));
  return [...pids]
    .filter((pid) => isOurs(pid, journal))
    .map((pid) => left('process left', `${name}: pid ${pid} lives`));
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
