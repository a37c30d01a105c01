/**
 * What the SDK says only on `onerror`, with no request to blame. A hint is worth a probe and proves nothing: calls
 * still worked after every one of these but the end of a legacy SSE stream, which is the session itself.
 */
import { shapeOf } from './error-shape.ts';

const GAVE_UP_LISTENING = /^Maximum reconnection attempts \(\d+\) exceeded\.$/;
const STREAM_CUT = /^SSE stream disconnected: /;

/**
 * `deaf`: the SDK will not open the server's stream again. `cut`: some stream was cut; it may be an answer's.
 * `stream-ended`: the one stream of a legacy SSE session ended.
 */
export function hintOf(error: unknown): 'deaf' | 'cut' | 'stream-ended' | undefined {
  const { name, className, message } = shapeOf(error);
  if (name === 'SseError' || className === 'SseError') return 'stream-ended';
  if (GAVE_UP_LISTENING.test(message)) return 'deaf';
  return STREAM_CUT.test(message) ? 'cut' : undefined;
}
