/** Asks a generation for a sign of life. Any answer at all is one. */
import type { ProbeInput, ProbeOutcome } from '../machines/connection.machine.ts';
import type { Evidence } from '../machines/vocabulary.ts';
import type { Generation } from './generation.ts';
import { OPERATIONS } from './operations.ts';

const METHOD_NOT_FOUND = -32601;

export interface ProbeContext {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What an error of this generation proves. */
  readonly judge: (error: unknown) => Evidence;
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

export async function probe(
  generation: Generation,
  { suspicion }: ProbeInput,
  context: ProbeContext,
): Promise<ProbeOutcome> {
  if (suspicion === 'heartbeat' && generation.pingUnsupported)
    return { verdict: 'usable', cause: 'heartbeat' };
  let evidence = await attempt(generation, context);
  // A kept-alive socket that the server had just closed: the next one is new.
  if (evidence?.cause === 'request-cut') evidence = await attempt(generation, context);
  if (evidence === undefined) return { verdict: 'usable', cause: suspicion ?? 'heartbeat' };
  const { cause } = evidence;
  if (cause !== 'timeout') return { verdict: provesLoss(evidence) ? 'lost' : 'usable', cause };
  return { verdict: generation.inFlight > 0 ? 'busy' : 'unanswered', cause: suspicion ?? cause };
}

async function attempt(generation: Generation, context: ProbeContext): Promise<Evidence | undefined> {
  try {
    await ask(generation, context);
    return undefined;
  } catch (error) {
    if (Object(error).code === METHOD_NOT_FOUND) generation.pingUnsupported = true;
    return context.judge(error);
  }
}

function provesLoss({ connection, cause }: Evidence): boolean {
  if (connection !== 'suspect') return connection === 'lost';
  // Something answered, if only a gateway: the session behind it may be well.
  return cause !== 'http-error' && cause !== 'malformed-answer';
}
