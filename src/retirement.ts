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

/** The server does not know the session any more: there is nothing to DELETE. */
const SESSION_IS_GONE: readonly Cause[] = [
  'session-unknown',
  'session-rejected',
  'session-error',
  'version-changed',
];

const AT_THE_HOSTS_WISH: readonly Cause[] = ['requested', 'closed'];

/** A silent server may be alive: it gets one DELETE, and its calls are not waited for. */
const SILENCE: readonly Cause[] = ['timeout', 'heartbeat', 'host-slept'];

/** The longest that a DELETE delays the next generation after a loss; `reconnect()` allows `closeTimeoutMs`. */
export const DELETE_LIMIT_MS = 1_000;

/**
 * Closing a client aborts the signal of every exchange that it ever had. That takes as long as a few calls, so it
 * waits until the calls that were stricken have gone on.
 */
const LINGER_MS = 250;

/** A server notices the end of a stream a moment after it, and may read the next request before that. */
const STREAM_END_MS = 50;

export interface Ending {
  /** The next generation may begin. Rejects with `ProcessNotEndedError`. */
  readonly cleared: Promise<unknown>;
  /** The generation has ended, or its limits have passed. */
  readonly ended: Promise<unknown>;
}

/** Processes of a server that SIGKILL did not end in time. */
export class ProcessNotEndedError extends Error {
  constructor(pids: readonly number[], limitMs: number) {
    super(
      `The server's process of the generation before (pid ${pids.join(', ')}) did not end within ${limitMs} ms`,
    );
  }
}

/** `over`: so many newer ones wait that this one cannot, or the whole connection is being closed. */
export interface Hold {
  readonly over: Promise<void>;
  readonly release: () => void;
}

export interface RetirementParts {
  readonly generation: OwnedGeneration;
  readonly cause: Cause;
  /** The supervisor made the transport; otherwise a `connect` function did. */
  readonly isDescribed: boolean;
  readonly hadSession: boolean;
  readonly timeouts: Settings['timeouts'];
  /** Waits, but not once the whole connection is being closed: then there is no call to be in the way of. */
  readonly linger: (ms: number) => Promise<void>;
  /** Counts this generation among those that wait for their calls. */
  readonly hold: () => Hold;
  /** Waits until the next generation has finished its handshake, or the whole connection is being closed. */
  readonly superseded: () => Promise<void>;
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

/** Ends what a failed dial has made. No call has used it. */
export function retireUnused(parts: RetirementParts): Ending {
  const { generation, timeouts } = parts;
  if (processOf(generation) !== undefined) {
    const ended = endProcess(parts);
    return { cleared: ended, ended };
  }
  return closeAfter(endSession(generation, Math.min(DELETE_LIMIT_MS, timeouts.closeTimeoutMs)), parts);
}

/** May the server still have a session of this generation, though it was not ended, or could not be (405)? */
export function sessionMayLive({ generation, cause, hadSession }: RetirementParts): boolean {
  return hadSession && !SESSION_IS_GONE.includes(cause) && !generation.monitor.sessionEnded;
}

/** Can the session of this generation still be ended, where the server may have it? */
export function canEndSession({ generation, cause }: Pick<RetirementParts, 'generation' | 'cause'>): boolean {
  const { transport, monitor, closed } = generation;
  if (closed || SESSION_IS_GONE.includes(cause) || monitor.sessionEnded) return false;
  return transport?.sessionId !== undefined || isLegacySse(generation);
}

/** Ends what may be in the way of the next generation. Never rejects. */
export async function makeWay(generation: OwnedGeneration): Promise<void> {
  // What a DELETE ends may have run.
  generation.monitor.cutAll();
  if (isLegacySse(generation)) await closeClient(generation, DELETE_LIMIT_MS);
  else await endSession(generation, DELETE_LIMIT_MS);
}

/** Its session lives as long as its stream. */
function isLegacySse({ overHttp, transport }: OwnedGeneration): boolean {
  return overHttp && transport?.terminateSession === undefined;
}

/** Sends the DELETE that ends a session, or joins one that is under way. Never rejects. */
async function endSession(generation: OwnedGeneration, limitMs: number): Promise<void> {
  const { transport, monitor } = generation;
  if (transport?.sessionId === undefined || monitor.sessionEnded) return;
  generation.endingSession ??= withinLimit(() => transport.terminateSession?.(), limitMs).then(() => {
    generation.endingSession = undefined;
  });
  await withinLimit(() => generation.endingSession, limitMs);
}

/** Never rejects. */
async function closeClient(generation: OwnedGeneration, limitMs: number): Promise<void> {
  const { client, transport } = generation;
  generation.monitor.cutThoseThatAwaitInput();
  await withinLimit(async () => {
    await (client as unknown as ClientShape).close();
    // A client that lost its transport does not close it.
    await transport?.close();
    if (generation.monitor.legacyStreamBegan)
      await new Promise((resolve) => setTimeout(resolve, STREAM_END_MS));
  }, limitMs);
  generation.noteClosed();
}

function processOf({ transport }: OwnedGeneration): StdioTransport | undefined {
  return transport !== undefined && 'processEnd' in transport ? (transport as StdioTransport) : undefined;
}

/** A living leader is asked first; descendants of a dead one are killed at once. */
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

function retireAtWish(parts: RetirementParts): Ending {
  const { generation, timeouts } = parts;
  const drained = generation.drain(timeouts.drainTimeoutMs);
  return closeAfter(
    drained.then(() => endSession(generation, timeouts.closeTimeoutMs)),
    parts,
  );
}

function retireSilent(parts: RetirementParts): Ending {
  return closeAfter(endSession(parts.generation, DELETE_LIMIT_MS), parts);
}

/**
 * A loss delays the next generation as little as it can. Calls whose exchange is open may still be answered, so the
 * client is closed after them. A client that `connect` made is closed first, unless that would cut such a call.
 */
function retireLost(parts: RetirementParts): Ending {
  const { generation, isDescribed, timeouts, linger } = parts;
  const { closeTimeoutMs } = timeouts;
  const tell = async () => {
    if (canEndSession(parts)) await endSession(generation, closeTimeoutMs);
  };
  if (isDescribed) {
    const isClosed = generation.closed || !generation.overHttp;
    const told = drainLost(parts)
      .then(() => (isClosed ? undefined : linger(LINGER_MS)))
      .then(tell);
    return { cleared: Promise.resolve(), ended: closeAfter(told, parts).ended };
  }
  let ending: Promise<unknown> | undefined;
  const end = () => {
    ending ??= closeAfter(tell(), parts).ended;
    return ending;
  };
  const drained = generation.closed ? Promise.resolve() : generation.drain(LINGER_MS);
  const cleared = drained.then(() => {
    const wouldCutCalls = generation.inFlight > 0 && !generation.closed;
    return wouldCutCalls ? undefined : end();
  });
  const ended = cleared.then(() => drainLost(parts)).then(end);
  return { cleared, ended };
}

/**
 * A server that is replaced gently finishes what it has begun. So a call whose exchange is open has all of its own
 * time, and only what cannot be answered any more is cut after `drainTimeoutMs`.
 */
async function drainLost({ generation, timeouts, hold }: RetirementParts): Promise<void> {
  const { drainTimeoutMs } = timeouts;
  if (generation.inFlight === 0 || isLegacySse(generation)) return generation.drain(drainTimeoutMs);
  const held = hold();
  await generation.drain(drainTimeoutMs);
  if (generation.monitor.hasOpenExchange) {
    generation.monitor.cutThoseNotOpen();
    await Promise.race([generation.idle(), held.over]);
  }
  held.release();
}

/**
 * Closes the client. A closed transport of the SDK sends no DELETE, so one whose session may live stays open for that
 * until there is a next generation; a client that `connect` made is closed all the same, as a host would.
 */
function closeAfter(told: Promise<void>, parts: RetirementParts): Ending {
  const { generation, isDescribed, timeouts, superseded } = parts;
  const close = () => closeClient(generation, timeouts.closeTimeoutMs);
  let isKept = false;
  const cleared = told.then(async () => {
    isKept = isDescribed && canEndSession(parts) && !isLegacySse(generation);
    if (!isKept) await close();
  });
  const ended = cleared.then(async () => {
    if (!isKept) return;
    generation.monitor.settleAll();
    await superseded();
    await close();
  });
  return { cleared, ended };
}
