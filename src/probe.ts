/** Asks a generation for a sign of life. Any answer is one, and so is any message that comes meanwhile. */
import type { ProbeInput, ProbeOutcome } from '../machines/connection.machine.ts';
import type { Cause, Evidence } from '../machines/vocabulary.ts';
import { saysServerIsAbsent } from './evidence/absence.ts';
import type { Generation } from './generation.ts';
import { OPERATIONS } from './operations.ts';

const METHOD_NOT_FOUND = -32601;

export interface ProbeContext {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What an error of this generation proves. */
  readonly judge: (error: unknown) => Evidence;
}

/** What a generation has shown about `ping` so far. */
export interface PingHabits {
  /** The server answered that it does not know `ping`. */
  unsupported: boolean;
  answered: boolean;
  /**
   * It answered an operation that was sent after a ping, and never a ping: its silence to one says nothing. The
   * generation after one that never answered a ping begins with it.
   */
  ignored: boolean;
  /** When a ping was sent that it did not answer, from `Date.now()`. */
  unansweredAt: number | undefined;
}

export function newPingHabits(): PingHabits {
  return { unsupported: false, answered: false, ignored: false, unansweredAt: undefined };
}

/** Its server never answered a ping, so the next generation's handshake is the operation that it does answer. */
export function neverAnsweredPings({ answered, unansweredAt }: PingHabits): boolean {
  return !answered && unansweredAt !== undefined;
}

export async function probe(
  generation: Generation,
  { suspicion }: ProbeInput,
  context: ProbeContext,
): Promise<ProbeOutcome> {
  const { pings } = generation;
  const cause = suspicion ?? 'heartbeat';
  const usable: ProbeOutcome = { verdict: 'usable', cause };
  if (cause === 'heartbeat' && pings.unsupported) return usable;
  // Over HTTP a ping may bring a 404. On a pipe only heartbeats go on asking one that never answered any: it may have
  // been busy then.
  if (pings.ignored && neverAnsweredPings(pings) && !generation.overHttp && cause !== 'heartbeat') {
    return silenceOf(generation, cause);
  }

  const { signsOfLife } = generation;
  let evidence = await attempt(generation, context);
  // A kept-alive socket that the server had just closed, or that died while the host slept: the next one is new.
  if (evidence?.cause === 'request-cut' || (cause === 'host-slept' && evidence?.cause === 'timeout')) {
    evidence = await attempt(generation, context);
  }
  const isUnreachable =
    evidence !== undefined && generation.nothingToLose && !generation.closed && saysServerIsAbsent(evidence);
  if (!isUnreachable) generation.unreachableSince = undefined;
  if (evidence === undefined) return usable;
  if (isUnreachable) {
    generation.unreachableSince ??= Date.now();
    const unreachableMs = Date.now() - generation.unreachableSince;
    return { verdict: 'unreachable', cause: evidence.cause, unreachableMs };
  }
  if (evidence.cause === 'timeout') {
    return generation.signsOfLife === signsOfLife ? silenceOf(generation, cause) : usable;
  }
  return { verdict: provesLoss(evidence, cause, generation) ? 'lost' : 'usable', cause: evidence.cause };
}

/** Revision 2026-07-28 has no `ping`; its SDK refuses it without sending anything. */
async function ask({ client }: Generation, context: ProbeContext): Promise<void> {
  const options = { timeout: context.timeoutMs, signal: context.signal };
  try {
    await client.ping(options);
  } catch (error) {
    if (context.judge(error).cause !== 'unsupported') throw error;
    await client.request({ method: OPERATIONS.discover.method }, options);
  }
}

async function attempt(generation: Generation, context: ProbeContext): Promise<Evidence | undefined> {
  const { pings } = generation;
  const sentAt = Date.now();
  try {
    await ask(generation, context);
    Object.assign(pings, { answered: true, ignored: false });
    return undefined;
  } catch (error) {
    if (Object(error).code === METHOD_NOT_FOUND) pings.unsupported = true;
    const evidence = context.judge(error);
    if (evidence.cause === 'timeout') pings.unansweredAt ??= sentAt;
    return evidence;
  }
}

/** As a row of probes begins: what was answered since the last one tells. */
export function noteIgnoredPings({ pings, answeredSentAt }: Generation): void {
  if (neverAnsweredPings(pings) && answeredSentAt > Number(pings.unansweredAt)) pings.ignored = true;
}

/** Of a server that never answers a ping only operations tell, and one in flight has its own time. */
function silenceOf(generation: Generation, cause: Cause): ProbeOutcome {
  const silence = generation.silence();
  if (generation.pings.ignored && !silence.outstanding) return { verdict: 'usable', cause };
  return { verdict: 'unanswered', cause, silence };
}

function provesLoss({ connection, cause }: Evidence, suspicion: Cause, generation: Generation): boolean {
  // A gateway that answers in the server's stead: only several of these in a row are held against a session, once.
  if (cause === 'gateway-error') return suspicion === 'gateway-error' && generation.earnsNewSession;
  if (connection !== 'suspect') return connection === 'lost';
  // Something answered, if only a gateway: the session behind it may be well.
  return cause !== 'http-error' && cause !== 'malformed-answer';
}
