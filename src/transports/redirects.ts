/**
 * Where requests end up. Both SDKs follow a redirect themselves, by asking `fetch` anew, and only within the origin
 * and with method and body kept; a `fetch` of the host's may follow any by itself, unseen.
 */
import type { Reached } from '../evidence/failure.ts';

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const SHOWN_CHARS = 200;

/** What `fetch` takes. */
export type Asked = string | URL | Request;

/** The same scheme, host and port, or the https form of it with both on their default ports. */
function isWithinOrigin(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const plain = from.protocol === 'http:' && from.port === '';
  return plain && to.protocol === 'https:' && to.port === '' && from.hostname === to.hostname;
}

function parsed(address: Asked, base?: URL): URL | undefined {
  const text = address instanceof Request ? address.url : String(address);
  return URL.canParse(text, base) ? new URL(text, base) : undefined;
}

export function whereItEnded(asked: Asked, response: Response): Reached {
  if (!response.redirected) return 'endpoint';
  const from = parsed(asked);
  const to = parsed(response.url);
  return from !== undefined && to !== undefined && isWithinOrigin(from, to) ? 'within-origin' : 'elsewhere';
}

/** Where a redirect points to that `fetch` has left to who asked. */
export function redirectTarget(asked: Asked, response: Response): URL | undefined {
  const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : null;
  return location === null ? undefined : parsed(location, parsed(asked));
}

/** Whether the SDK asks there in turn: for a GET wherever it is within the origin. */
export function isFollowedGet(asked: Asked, response: Response): boolean {
  const from = parsed(asked);
  const to = redirectTarget(asked, response);
  return from !== undefined && to !== undefined && isWithinOrigin(from, to);
}

/** For an error message: without userinfo and query. */
export function shownTarget({ protocol, host, pathname }: URL): string | undefined {
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return `${protocol}//${host}${pathname}`.slice(0, SHOWN_CHARS);
}
