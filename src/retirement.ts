/**
 * How a generation is ended, and what of that has to be over before the next one begins: a server that allows one
 * session would refuse the second, and a process that holds a port or a lock would meet itself.
 */
import type { Cause } from '../machines/vocabulary.ts';
import type { Settings } from './options.ts';
import type { OwnedGeneration } from './owned-generation.ts';
import type { ClientShape } from './transports/client-shape.ts';
import type { StdioTransport } from './transports/stdio.ts';
import { withinLimit } from './within-limit.ts';

/** The server has said that it does not know these sessions: there is nothing to DELETE. */
const SESSION_IS_GONE: readonly Cause[] = ['session-unknown', 'session-rejected', 'session-error'];

const AT_THE_HOSTS_WISH: readonly Cause[] = ['requested', 'closed'];

/** The server may be alive, and answers nothing: it is told once, and not waited for. */
const SILENCE: readonly Cause[] = ['timeout', 'heartbeat', 'host-slept'];

/** How long a DELETE may hold up the next generation, where no call waits for its server's answer. */
export const DELETE_LIMIT_MS = 1_000;

/**
 * Closing a client aborts the signal of every exchange that it ever had. That takes as long as a few calls, so it
 * waits until the calls that were stricken have gone on.
 */
const LINGER_MS = 250;

export interface Ending {
  /** The next generation may begin. Rejects with `ProcessNotEndedError`. */
  readonly cleared: Promise<void>;
  /** Nothing of it is left, or it has been waited for long enough. */
  readonly ended: Promise<void>;
}

/** Processes of a server that SIGKILL did not end in time. */
export class ProcessNotEndedError extends Error {
  constructor(pids: readonly number[], limitMs: number) {
    super(
      `The server's process of the generation before (pid ${pids.join(', ')}) did not end within ${limitMs} ms`,
    );
  }
}

export interface RetirementParts {
  readonly generation: OwnedGeneration;
  readonly cause: Cause;
  /** The supervisor made the transport; otherwise a `connect` function did. */
  readonly isDescribed: boolean;
  readonly timeouts: Settings['timeouts'];
  /** Waits, but not once the whole connection is being closed: then there is no call to be in the way of. */
  readonly linger: (ms: number) => Promise<void>;
}

export function retire(parts: RetirementParts): Ending {
  const { generation, cause } = parts;
  generation.monitor.retire(AT_THE_HOSTS_WISH.includes(cause) ? 'draining' : 'gone');
  if (processOf(generation) !== undefined) {
    const ended = endProcess(parts);
    return { cleared: ended, ended };
  }
  if (AT_THE_HOSTS_WISH.includes(cause)) return retireAtWish(parts);
  if (SILENCE.includes(cause)) return retireSilent(parts);
  return retireLost(parts);
}

/** May the server still have the session of this generation? */
export function mayHaveSession({
  generation,
  cause,
}: Pick<RetirementParts, 'generation' | 'cause'>): boolean {
  const { transport, monitor } = generation;
  return transport?.sessionId !== undefined && !SESSION_IS_GONE.includes(cause) && !monitor.sessionEnded;
}

/** DELETEs on their way. */
const deletes = new WeakMap<OwnedGeneration, Promise<unknown>>();

/** Sends the DELETE that ends a session, or waits for the one that is on its way. Never rejects. */
export async function endSession(generation: OwnedGeneration, limitMs: number): Promise<void> {
  const { transport, monitor } = generation;
  if (transport?.sessionId === undefined || monitor.sessionEnded) return;
  await withinLimit(() => {
    const sent = deletes.get(generation) ?? transport.terminateSession?.() ?? Promise.resolve();
    deletes.set(generation, sent);
    return sent.finally(() => deletes.delete(generation));
  }, limitMs);
}

/** Never rejects. */
export async function closeClient({ client, transport }: OwnedGeneration, limitMs: number): Promise<void> {
  await withinLimit(async () => {
    await (client as unknown as ClientShape).close();
    // A client that lost its transport does not close it.
    await transport?.close();
  }, limitMs);
}

/** What a failed dial has made: nothing of it was ever used. */
export async function endNow(generation: OwnedGeneration, timeouts: Settings['timeouts']): Promise<void> {
  if (processOf(generation) !== undefined) {
    await endProcess({ generation, cause: 'not-connected', timeouts }).catch(() => {});
    return;
  }
  await endSession(generation, Math.min(DELETE_LIMIT_MS, timeouts.closeTimeoutMs));
  await closeClient(generation, timeouts.closeTimeoutMs);
}

function processOf({ transport }: OwnedGeneration): StdioTransport | undefined {
  return transport !== undefined && 'processEnd' in transport ? (transport as StdioTransport) : undefined;
}

/** A process that lives is asked first; what a dead one left behind has no one to ask. */
export async function endProcess({
  generation,
  cause,
  timeouts,
}: Pick<RetirementParts, 'generation' | 'cause' | 'timeouts'>): Promise<void> {
  const { drainTimeoutMs, closeTimeoutMs } = timeouts;
  const transport = processOf(generation);
  if (AT_THE_HOSTS_WISH.includes(cause)) await generation.drain(drainTimeoutMs);
  const end = transport?.processEnd;
  const leaderLives = end !== undefined && end.exitCode === null && end.signal === null;
  const survivors = (await transport?.end(leaderLives ? 'ask' : 'kill')) ?? [];
  await closeClient(generation, closeTimeoutMs);
  if (survivors.length > 0) throw new ProcessNotEndedError(survivors, closeTimeoutMs);
}

function retireAtWish({ generation, timeouts }: RetirementParts): Ending {
  const { drainTimeoutMs, closeTimeoutMs } = timeouts;
  const ended = generation
    .drain(drainTimeoutMs)
    .then(() => endSession(generation, closeTimeoutMs))
    .then(() => closeClient(generation, closeTimeoutMs));
  return { cleared: ended, ended };
}

function retireSilent({ generation, timeouts }: RetirementParts): Ending {
  const ended = endSession(generation, DELETE_LIMIT_MS).then(() =>
    closeClient(generation, timeouts.closeTimeoutMs),
  );
  return { cleared: ended, ended };
}

/**
 * What is known to be gone holds nobody up. Calls whose exchange is open may still be answered, so the client is
 * closed after them; one that `connect` made is closed first, unless that would cut such a call.
 */
function retireLost(parts: RetirementParts): Ending {
  const { generation, isDescribed, timeouts, linger } = parts;
  const { drainTimeoutMs, closeTimeoutMs } = timeouts;
  const isClosed = generation.closed || !generation.overHttp;
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= (mayHaveSession(parts) ? endSession(generation, closeTimeoutMs) : Promise.resolve()).then(() =>
      closeClient(generation, closeTimeoutMs),
    );
    return ending;
  };
  if (isDescribed) {
    const ended = generation
      .drain(drainTimeoutMs)
      .then(() => (isClosed ? undefined : linger(LINGER_MS)))
      .then(end);
    return { cleared: Promise.resolve(), ended };
  }
  const drained = isClosed ? Promise.resolve() : generation.drain(LINGER_MS);
  const cleared = drained.then(() => (generation.inFlight > 0 ? undefined : end()));
  const ended = cleared.then(() => generation.drain(drainTimeoutMs)).then(end);
  return { cleared, ended };
}
