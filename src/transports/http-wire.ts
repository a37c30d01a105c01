/** What is read from HTTP requests and responses. */
import { MAX_DURATION_MS } from '../durations.ts';

/** Both SDKs pass a `Headers`; copying one costs more than all the rest of the monitor. */
export function headerOf({ headers }: RequestInit, name: string): string | null {
  return (headers instanceof Headers ? headers : new Headers(headers)).get(name);
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
export function retryAfterMsOf(response: Response): number {
  const value = response.headers.get('retry-after');
  if (value === null) return 0;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_DURATION_MS) : 0;
}

/** The id of the JSON-RPC request in a body. Both SDKs number their requests, and mostly put the id last. */
export function requestIdOf(body: unknown): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  const start = body.lastIndexOf('"id":');
  const trailing = start > body.length - 32 ? Number(body.slice(start + 5, -1)) : Number.NaN;
  if (Number.isInteger(trailing)) return trailing;
  try {
    const message = JSON.parse(body) as { id?: unknown };
    return typeof message.id === 'number' || typeof message.id === 'string' ? message.id : undefined;
  } catch {
    return undefined;
  }
}
