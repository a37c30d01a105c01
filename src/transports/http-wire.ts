/** What is read from HTTP requests and responses. */
import { MAX_DURATION_MS } from '../durations.ts';

/** Both SDKs pass a `Headers`; copying one costs more than all the rest of the monitor. */
export function headerOf({ headers }: RequestInit, name: string): string | null {
  return (headers instanceof Headers ? headers : new Headers(headers)).get(name);
}

/** In place of a request for a stream that nobody wants any more. Both SDKs take a 405 for the quiet end of it. */
export function noSuchStream(): Response {
  return new Response(null, { status: 405 });
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
export function retryAfterMsOf(response: Response): number {
  const value = response.headers.get('retry-after');
  if (value === null) return 0;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_DURATION_MS) : 0;
}
