/**
 * A call of revision 2026-07-28 may be several requests, and between two of them the host answers what the server
 * asked. Nothing is pending in the SDK then: it would hear of an abort only when the host's handler has finished.
 */
import { abortError } from './abort-error.ts';

/** Settles as `answer` does, or at once when the signal is aborted. */
export function untilAborted(
  answer: Promise<unknown>,
  signal: AbortSignal,
  client: object,
  isBetweenRequests: () => boolean,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    answer.then(resolve, reject);
    const abort = () => abortError(signal.reason, client, false).then(reject);
    // Otherwise the SDK, which has heard of it before, rejects what is pending, if it knows of anything.
    signal.addEventListener('abort', () => (isBetweenRequests() ? abort() : setTimeout(abort)), {
      once: true,
    });
  });
}
