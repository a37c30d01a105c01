/** A server that is not there, where there is no session to lose: what was sent failed, and the client is as good as before. */
import type { Cause, Evidence } from '../../machines/vocabulary.ts';

const OF_AN_ABSENT_SERVER: readonly Cause[] = ['unreachable', 'request-cut', 'answer-lost'];

export function saysServerIsAbsent({ connection, cause }: Evidence): boolean {
  return connection === 'suspect' && OF_AN_ABSENT_SERVER.includes(cause);
}
