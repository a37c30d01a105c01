// What each fault does to an HTTP exchange. `when: 'after'` first lets the server really run the
// request, through a POST to ourselves, and drops that answer.
import { request } from 'node:http';
import { inBandAnswer } from './faults.mjs';

/** The header of such a POST to ourselves: served without faults. */
export const BYPASS = 'x-fault-bypass';

const HTML = '<!doctype html><title>Gateway</title><h1>Something went wrong</h1>';

/** Runs the request for real and waits until its answer has ended. */
export function runFirst(port, req, body) {
  return new Promise((resolve) => {
    const { 'content-length': _length, connection: _connection, ...headers } = req.headers;
    const inner = request(
      {
        host: '127.0.0.1',
        port,
        path: req.url,
        method: req.method,
        headers: { ...headers, [BYPASS]: '1' },
        agent: false,
      },
      (answer) => answer.resume().once('close', resolve),
    );
    inner.once('error', resolve);
    inner.end(body);
  });
}

/**
 * @param {object} fault
 * @param {import('node:http').ServerResponse} res
 * @param {{ id?: unknown, held: Set<() => void>, inSession?: (message: object) => void }} exchange
 *   `inSession` sends an in-band answer where it does not travel in the POST's response (legacy SSE).
 * @returns {Promise<boolean>} false: go on and serve the request normally
 */
export async function applyFault(fault, res, { id, held, inSession }) {
  const answer = inBandAnswer(fault, id);
  if (answer !== undefined) {
    if (inSession) {
      res.writeHead(202).end('Accepted');
      inSession(answer);
    } else {
      res.writeHead(fault.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }
    return true;
  }
  switch (fault.kind) {
    case 'hold': // until the harness says release()
      await new Promise((resolve) => held.add(resolve));
      return false;
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, fault.ms));
      return false;
    case 'never':
      return true;
    case 'accept202':
      res.writeHead(202).end();
      return true;
    case 'status': {
      const headers = { 'content-type': fault.contentType ?? 'text/plain', ...fault.headers };
      if (fault.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter);
      res.writeHead(fault.status, headers).end(fault.body ?? '');
      return true;
    }
    case 'html':
      res.writeHead(200, { 'content-type': fault.contentType ?? 'text/html' }).end(HTML);
      return true;
    case 'broken-json':
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":');
      return true;
    case 'clean-eof':
    case 'reset-after-headers':
    case 'sse-silent':
      res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      res.flushHeaders();
      if (fault.kind === 'sse-silent') return true;
      // The headers must have been read before the cut, or it is a cut without headers.
      await new Promise((resolve) => setTimeout(resolve, fault.ms ?? 30));
      if (fault.kind === 'clean-eof') res.end();
      else res.socket?.resetAndDestroy();
      return true;
    case 'reset':
      res.socket?.resetAndDestroy();
      return true;
    case 'fin':
      res.socket?.destroy();
      return true;
    case 'exit':
      process.exit(fault.code ?? 3);
  }
  throw new Error(`unknown fault kind ${fault.kind}`);
}
