/** The local inspection page: a server on the loopback interface that shows one supervisor as it runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Supervisor } from '../../supervisor.ts';
import { LocalServer } from '../local-server.ts';
import { checkPort } from '../port.ts';
import { labelsOf, type PageControls, runControl } from './controls.ts';
import { Hub } from './hub.ts';
import { type StaticFile, StaticFiles } from './static-files.ts';

export type { PageControls } from './controls.ts';

export interface PageOptions {
  /** Default 0: a free one. */
  readonly port?: number | undefined;
  /** For demos: more buttons for each connection. Default: none, and then the page can only look. */
  readonly controls?: PageControls | undefined;
}

/** A page that is served. */
export interface Page extends AsyncDisposable {
  /** Where it is, with the token that lets one in: whoever knows it can look. */
  readonly url: string;
  /** Ends every viewer's stream and stops listening. The supervisor is left as it is. May be called again. */
  close(): Promise<void>;
}

const PAGE = '/page.html';

const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * Serves a page that shows every connection of a supervisor, live: its state in the statechart, operations in
 * trouble, recoveries, and a log of every step of every machine. It listens on 127.0.0.1 only, wants the token that
 * is in its URL, and answers no other site. It never keeps a process alive, and it is told nothing secret: no header,
 * token, argument, result or error text.
 *
 * The last 1 000 steps are kept for those who look later, from this call on.
 *
 * @param options.port Default 0: a free one
 * @param options.controls Default: none
 * @throws {InvalidOptionsError} (as a rejection) a port that is none
 * @throws {Error} (as a rejection) the port is taken (`EADDRINUSE`), or not one's to listen on (`EACCES`)
 * @example
 * const supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });
 * const page = await servePage(supervisor);
 * console.log(page.url); // open it in a browser
 */
export async function servePage(
  supervisor: Supervisor,
  { port = 0, controls = {} }: PageOptions = {},
): Promise<Page> {
  checkPort(port);
  const files = new StaticFiles();
  const hub = new Hub(supervisor, labelsOf(controls));
  const isPublic = (path: string) => path !== PAGE && files.has(path);
  const route = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { pathname, searchParams } = url;
    if (pathname === '/control') {
      const allowed = request.method === 'POST';
      answer(response, allowed ? await runControl(controls, supervisor, searchParams) : 405);
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response, 405);
    } else if (pathname === '/events' && request.method === 'GET') {
      hub.join(response);
    } else {
      const file = files.get(pathname === '/' ? PAGE : pathname);
      if (file === undefined) answer(response, 404);
      else sendFile(file, request, response);
    }
  };

  const server = new LocalServer(route, undefined, isPublic);
  try {
    await server.listen(port);
  } catch (error) {
    hub.close();
    throw error;
  }

  const close = async () => {
    hub.close();
    await server.close();
  };
  return { url: server.url.href, close, [Symbol.asyncDispose]: close };
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

function sendFile(file: StaticFile, request: IncomingMessage, response: ServerResponse): void {
  const zips = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const body = zips ? file.zipped : file.body;
  response.writeHead(200, {
    'content-type': file.type,
    'content-length': body.length,
    vary: 'accept-encoding',
    ...(zips && { 'content-encoding': 'gzip' }),
  });
  // To HEAD, Node itself sends no body.
  response.end(body);
}
