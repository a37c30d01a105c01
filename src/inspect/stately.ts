/** The Stately inspector for a host that runs in Node: one WebSocket for viewers, and a page that has one. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { InspectionEvent } from 'xstate';
import { LocalServer } from './local-server.ts';
import { openInBrowser } from './open-in-browser.ts';
import { checkPort } from './port.ts';
import { statelyEvent } from './stately-events.ts';
import { StatelyHistory } from './stately-history.ts';

export interface StatelyInspectorOptions {
  /** Where it listens, on 127.0.0.1. Default 0: any free port. */
  readonly port?: number | undefined;
  /**
   * Open the page in the default browser. Default false. Its address, with the token, is an argument of the command
   * that does so: other users of this machine can read it while that runs.
   */
  readonly open?: boolean | undefined;
}

export interface StatelyInspector extends AsyncDisposable {
  /** For `createSupervisor({ inspect })`. */
  next(event: InspectionEvent): void;
  /**
   * The page with Stately's own viewer, once it listens; a WebSocket client finds the events at the same address
   * with `ws:` (`createWebSocketReceiver({ server })`). Its token lets in whoever has it. Rejects when the port is
   * taken.
   */
  readonly url: Promise<URL>;
  close(): Promise<void>;
}

const VIEWER = 'https://stately.ai';
/** One that says goodbye and does not go is not waited for: the timer of `ws` would keep the process. */
const SOCKETS = { noServer: true, closeTimeout: 200 };
const MAX_UNREAD_BYTES = 1_000_000;

/**
 * Shows every connection, and every operation in trouble, as an actor with its state and its events, in the protocol
 * of `@statelyai/inspect` 0.7. It listens on 127.0.0.1 only, keeps no process alive, and tells only what the list in
 * `redaction.ts` allows. The viewer in the page is Stately's, from its web site; without internet use
 * `supervisor.page()`.
 *
 * @throws {InvalidOptionsError} for a port that is none.
 * @example
 * const inspector = statelyInspector({ open: true });
 * const supervisor = createSupervisor({ clientInfo, inspect: inspector });
 * console.log(`${await inspector.url}`);
 */
export function statelyInspector({ port = 0, open = false }: StatelyInspectorOptions = {}): StatelyInspector {
  checkPort(port);
  const history = new StatelyHistory();
  /** How much each viewer may leave unread, beside what it was greeted with. */
  const mostUnread = new WeakMap<WebSocket, number>();
  const sockets = new WebSocketServer(SOCKETS);
  const server = new LocalServer(
    (_request, response) => sendPage(response),
    (request, socket, head) => sockets.handleUpgrade(request, socket, head, greet),
  );
  const url = server.listen(port).then(() => server.url);
  // Whoever waits for it hears of a port that is taken; for everyone else there is just no viewer.
  url.then((address) => open && openInBrowser(address)).catch(() => {});

  function greet(viewer: WebSocket): void {
    viewer.on('error', () => viewer.terminate());
    for (const event of history.events()) viewer.send(JSON.stringify(event));
    mostUnread.set(viewer, viewer.bufferedAmount + MAX_UNREAD_BYTES);
  }

  /** One that does not read is let go: it comes back, and gets the history. */
  function send(viewer: WebSocket, message: string): void {
    if (viewer.bufferedAmount > (mostUnread.get(viewer) ?? 0)) viewer.terminate();
    else viewer.send(message);
  }

  return {
    next(inspectionEvent) {
      const event = statelyEvent(inspectionEvent);
      if (event === undefined) return;
      history.add(event);
      if (sockets.clients.size === 0) return;
      const message = JSON.stringify(event);
      for (const viewer of sockets.clients) send(viewer, message);
    },
    url,
    async close() {
      for (const viewer of sockets.clients) viewer.terminate();
      await url.catch(() => {});
      await server.close();
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

const AGAIN_MS = 1_000;

/**
 * Hands what comes over the WebSocket to Stately's viewer, and to nobody else. When it was cut off and the host is
 * still there, it begins again with a new viewer, which is told everything.
 */
const BRIDGE = `
const viewer = document.querySelector('iframe');
const early = [];
let isListening = false;
addEventListener('message', ({ origin, data }) => {
  if (origin !== '${VIEWER}' || data?.type !== '@statelyai.connected') return;
  isListening = true;
  for (const event of early.splice(0)) tell(event);
});
const tell = (event) => viewer.contentWindow.postMessage(event, '${VIEWER}');
const socket = new WebSocket(location.href.replace('http', 'ws'));
socket.onmessage = ({ data }) => (isListening ? tell(JSON.parse(data)) : early.push(JSON.parse(data)));
socket.onclose = () => setTimeout(comeBack, ${AGAIN_MS});
const comeBack = () =>
  fetch(location.href, { method: 'HEAD' }).then(({ ok }) => ok && location.reload(), socket.onclose);
`;

function sendPage(response: ServerResponse): void {
  const nonce = randomBytes(16).toString('base64');
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': `default-src 'none'; frame-src ${VIEWER}; connect-src 'self'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  });
  response.end(
    `<!doctype html><html lang="en"><title>mcp-steward: Stately inspector</title><style nonce="${nonce}">html,body,iframe{margin:0;border:0;width:100%;height:100%}</style><iframe title="Stately inspector" src="${VIEWER}/inspect"></iframe><script nonce="${nonce}">${BRIDGE}</script></html>`,
  );
}
