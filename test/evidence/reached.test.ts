// What a refusal proves after redirects, and a 5xx whose body is the answer to the request.
import { describe, expect, it } from 'vitest';
import { judge, say } from './judge.ts';
import { rpcBody, ssePost, v1, v2 } from './sdk-errors.ts';

const POSTS = [
  ['v1', v1.http],
  ['v2', v2.http],
  ['legacy SSE', ssePost],
] as const;

const REFUSALS = [307, 308, 400, 401, 403, 404, 405, 406, 410, 413, 415, 429, 500, 502, 503];

describe.each(POSTS)('%s', (_sdk, http) => {
  it.each(REFUSALS)('%i from another origin proves nothing', (status) => {
    for (const body of [
      '',
      rpcBody(-32001, 'Session not found'),
      'Bad Request: No valid session ID provided',
    ]) {
      expect(say(judge(http(status, body), { reached: 'elsewhere' }))).toBe('usable unknown http-error');
    }
  });

  it('after redirects that nobody saw, a session may be lost, and nothing is known to be unrun', () => {
    const judged = (status: number, body = '') =>
      say(judge(http(status, body), { reached: 'within-origin' }));
    expect(judged(404)).toBe('lost unknown session-unknown');
    expect(judged(410)).toBe('lost unknown session-unknown');
    expect(judged(400, rpcBody(-32000, 'Bad Request: Server not initialized'))).toBe(
      'suspect unknown session-rejected',
    );
    expect(judged(401)).toBe('usable unknown unauthorized');
    for (const status of [307, 405, 406, 413, 415, 429])
      expect(judged(status)).toBe('usable unknown http-refused');
  });
});

it('what another origin says in an answer is an answer, and no news of the session', () => {
  const gone = v1.rpc(-32600, 'Session terminated');
  expect(say(judge(gone, { reached: 'elsewhere' }))).toBe('usable answered rpc-error');
  expect(say(judge(gone))).toBe('lost none session-unknown');
});

describe.each([
  ['v1', v1.http],
  ['v2', v2.http],
] as const)('%s: a 5xx with a JSON-RPC error', (_sdk, http) => {
  const body = (id: unknown, message = 'boom') =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message } });

  it.each([500, 501, 502, 503, 504, 524])('%i, of this request: it is the answer', (status) => {
    expect(say(judge(http(status, body(7)), { requestId: 7 }))).toBe('usable answered rpc-error');
    expect(say(judge(http(status, body('7')), { requestId: 7 }))).toBe('usable answered rpc-error');
    expect(say(judge(http(status, body(0)), { requestId: 0 }))).toBe('usable answered rpc-error');
  });

  it('of another, of none, or of an adopted connection: it is not', () => {
    for (const [id, requestId] of [
      [8, 7],
      [null, 0],
      [undefined, undefined],
      [7, undefined],
      ['undefined', undefined],
    ]) {
      const facts = { requestId: requestId as number | undefined };
      expect(say(judge(http(500, body(id)), facts))).toBe('usable unknown gateway-error');
      expect(say(judge(http(503, body(id)), facts))).toBe('usable unknown http-error');
    }
  });

  it('of a session that ended while it ran: unknown', () => {
    const ended = body(7, 'Session terminated before the request completed');
    expect(say(judge(http(500, ended), { requestId: 7 }))).toBe('usable unknown gateway-error');
  });

  it('a refusal with it stays a refusal', () => {
    expect(say(judge(http(404, body(7)), { requestId: 7 }))).toBe('lost none session-unknown');
  });
});
