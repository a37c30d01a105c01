/** When a connection that is ready counts as suspect. */
import type { Cause } from '../machines/vocabulary.ts';

/**
 * `path` is the whole state: `ready.probing`. A probe that only the heartbeat asked for is routine until one has gone
 * unanswered.
 */
export function isSuspect(
  path: string,
  { suspicion, misses = 0 }: { readonly suspicion?: Cause | null; readonly misses?: number },
): boolean {
  if (path === 'ready.suspect') return true;
  return path === 'ready.probing' && (suspicion !== 'heartbeat' || misses > 0);
}
