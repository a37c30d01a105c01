// @ts-check
/** The stream of what happens. It comes back by itself, and then begins with all that is known. */

const AGAIN_MS = 1_000;

const token = new URLSearchParams(location.search).get('token') ?? '';

/** @type {EventSource | undefined} */
let source;

/** @param {import('./store.js').Store} store */
export function follow(store) {
  if (!document.hidden) listen(store);
  // A browser allows one host six connections, for all of its tabs: one that nobody sees leaves its own to others.
  document.addEventListener('visibilitychange', () => {
    source?.close();
    store.streamIs('connecting');
    if (!document.hidden) listen(store);
  });
}

/** @param {import('./store.js').Store} store */
function listen(store) {
  const current = new EventSource(`events?token=${encodeURIComponent(token)}`);
  /** @param {string} event @param {(data: string) => void} take */
  const on = (event, take) =>
    current.addEventListener(event, ({ data }) => {
      store.heard();
      take(data);
    });
  on('snapshot', (data) => store.begin(JSON.parse(data)));
  on('changes', (data) => store.take(JSON.parse(data)));
  on('alive', () => {});
  source = current;
  current.addEventListener('error', () => {
    // What was refused for good, the browser does not try again.
    if (current.readyState === EventSource.CLOSED) void askAgain(store, current);
    else store.streamIs('lost');
  });
}

/**
 * Is it our host that does not let us in, or nobody there?
 *
 * @param {import('./store.js').Store} store
 * @param {EventSource} refused
 */
async function askAgain(store, refused) {
  const answer = await fetch(location.pathname + location.search, { method: 'HEAD' }).catch(() => undefined);
  if (source !== refused || document.hidden) return;
  store.streamIs(answer?.status === 401 ? 'refused' : 'lost');
  setTimeout(() => {
    if (source === refused && !document.hidden) listen(store);
  }, AGAIN_MS);
}

/** Resolves with whether it went well. @param {string} control @param {string} connection */
export async function useControl(control, connection) {
  const asked = new URLSearchParams({ token, control, connection });
  const answer = await fetch(`control?${asked}`, { method: 'POST' }).catch(() => undefined);
  return answer?.ok === true;
}
