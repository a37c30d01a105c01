// @ts-check
/** The stream of what happens. It comes back by itself, and then begins with all that is known. */

const AGAIN_MS = 1_000;

const token = new URLSearchParams(location.search).get('token') ?? '';

/** @param {import('./store.js').Store} store */
export function follow(store) {
  const source = new EventSource(`events?token=${encodeURIComponent(token)}`);
  /** @param {string} event @param {(data: string) => void} take */
  const on = (event, take) =>
    source.addEventListener(event, ({ data }) => {
      store.heard();
      take(data);
    });
  on('snapshot', (data) => store.begin(JSON.parse(data)));
  on('changes', (data) => store.take(JSON.parse(data)));
  on('alive', () => {});
  source.addEventListener('error', () => {
    // What was refused for good, the browser does not try again.
    if (source.readyState === EventSource.CLOSED) void askAgain(store);
    else store.streamIs('lost');
  });
}

/** Is it our host that does not let us in, or nobody there? @param {import('./store.js').Store} store */
async function askAgain(store) {
  const answer = await fetch(location.pathname + location.search, { method: 'HEAD' }).catch(() => undefined);
  store.streamIs(answer?.status === 401 ? 'refused' : 'lost');
  setTimeout(() => follow(store), AGAIN_MS);
}

/** Resolves with whether it went well. @param {string} control @param {string} connection */
export async function useControl(control, connection) {
  const asked = new URLSearchParams({ token, control, connection });
  const answer = await fetch(`control?${asked}`, { method: 'POST' }).catch(() => undefined);
  return answer?.ok === true;
}
