// HTTP statuses: facts/sdk-loss-table.md §2a (rows a, d, f), §3 and §4 rules 5 to 9, and E1 to E6 of the table of
// what the SDK hands a supervisor. Expected values by hand.
import { describe, expect, it } from 'vitest';
import { type Expected, type Facts, judge, type Row, say } from './judge.ts';
import { rpcBody, ssePost, v1, v2 } from './sdk-errors.ts';

const POSTS = [
  ['v1', v1.http],
  ['v2', v2.http],
  ['legacy SSE', ssePost],
] as const;

const BODIES = {
  empty: '',
  text: 'Not Found',
  html: '<!doctype html><h1>Not Found</h1>',
  'JSON-RPC -32001': rpcBody(-32001, 'Session not found'),
  'JSON-RPC -32002': rpcBody(-32002, 'Session not found'),
  'JSON-RPC -32600': rpcBody(-32600, 'Session terminated'),
  'broken JSON': '{"jsonrpc":',
  Python: 'Not Found: Session has been terminated',
};

describe.each(POSTS)('%s: 404 and 410 to a request that carried a session', (_sdk, http) => {
  it.each(Object.entries(BODIES))('body %s: lost, and proven unrun', (_name, body) => {
    for (const status of [404, 410]) {
      expect(say(judge(http(status, body)))).toBe('lost none session-unknown');
      expect(say(judge(http(status, body), { trust404: false }))).toBe('lost unknown session-unknown');
      expect(say(judge(http(status, body), { earlierLegMayHaveRun: true }))).toBe(
        'lost unknown session-unknown',
      );
    }
  });

  it('whose body is -32601: an unknown method, not an unknown session', () => {
    expect(say(judge(http(404, rpcBody(-32601, 'Method not found'))))).toBe('usable none http-refused');
  });
});

it.each([
  ['v1', v1.http],
  ['v2', v2.http],
] as const)('%s: 404 to a request without a session id: the wrong address, no loss', (_sdk, http) => {
  const sent: Facts = { session: 'none' };
  expect(say(judge(http(404, 'Not Found'), sent))).toBe('usable none http-refused');
  expect(say(judge(http(404, rpcBody(-32001, 'Session not found')), sent))).toBe('usable none http-refused');
});

it('only the plain error of legacy SSE is read as one of its POSTs', () => {
  const other = Object.assign(v2.http(404), { message: ssePost(404).message });
  expect(say(judge(other, { session: 'none' }))).toBe('usable none http-refused');
});

it('a supplied session that does not show its transport: its requests name a session', () => {
  for (const http of [v1.http, v2.http]) {
    expect(say(judge(http(404), { session: 'unseen' }))).toBe('lost none session-unknown');
    expect(say(judge(http(400), { session: 'unseen' }))).toBe('suspect unknown session-rejected');
  }
});

it('legacy SSE: the session is named by the URL, so every POST carries it', () => {
  expect(say(judge(ssePost(404), { session: 'none' }))).toBe('lost none session-unknown');
});

/** What the SDK's own servers answer before they dispatch. */
const SDK_REJECTIONS = [
  'Bad Request: No valid session ID provided',
  'Bad Request: Server not initialized',
  'Bad Request: Mcp-Session-Id header is required',
];

describe.each(POSTS)('%s: 400', (_sdk, http) => {
  it.each(SDK_REJECTIONS)('%s: only a probe can tell; by the SDK it did not run', (message) => {
    expect(say(judge(http(400, rpcBody(-32000, message))))).toBe('suspect none session-rejected');
  });

  it('anything else: only a probe can tell, and it may have run', () => {
    for (const body of ['', 'Bad Request', rpcBody(-32602, 'Invalid params'), '<h1>400</h1>']) {
      expect(say(judge(http(400, body)))).toBe('suspect unknown session-rejected');
    }
    const longer = rpcBody(-32000, `${SDK_REJECTIONS[0]}, or so`);
    expect(say(judge(http(400, longer)))).toBe('suspect unknown session-rejected');
  });
});

it.each(['v1', 'v2'] as const)(
  '%s: 400 to a request without a session id is an error of the request',
  (sdk) => {
    const { http } = sdk === 'v1' ? v1 : v2;
    expect(say(judge(http(400, 'Bad Request'), { session: 'none' }))).toBe('usable unknown http-refused');
  },
);

it.each(['v1', 'v2'] as const)(
  '%s: row d: after terminateSession() no id is sent, and the server says so',
  (sdk) => {
    const { http } = sdk === 'v1' ? v1 : v2;
    const body = rpcBody(-32000, 'Bad Request: Mcp-Session-Id header is required');
    expect(say(judge(http(400, body), { session: 'none' }))).toBe('suspect none session-rejected');
  },
);

const REFUSED: Expected = 'usable none http-refused';
const UNKNOWN: Expected = 'suspect unknown http-error';
/** The execution is unknown, and one of them says nothing about the session behind it. */
const GATEWAY: Expected = 'usable unknown gateway-error';
const STATUSES: Record<number, Expected> = {
  302: UNKNOWN,
  303: UNKNOWN,
  307: REFUSED,
  308: REFUSED,
  401: 'usable none unauthorized',
  403: 'usable none unauthorized',
  405: REFUSED,
  406: REFUSED,
  413: REFUSED,
  415: REFUSED,
  429: REFUSED,
  407: UNKNOWN,
  408: UNKNOWN,
  409: UNKNOWN,
  421: UNKNOWN,
  425: UNKNOWN,
  499: UNKNOWN,
  500: GATEWAY,
  501: GATEWAY,
  502: GATEWAY,
  // Busy, by its own word: the session stays, and nothing is probed for it.
  503: 'usable unknown http-error',
  504: GATEWAY,
  505: GATEWAY,
  520: GATEWAY,
  524: GATEWAY,
  599: GATEWAY,
};

describe.each(POSTS)('%s: the other statuses', (_sdk, http) => {
  it.each(Object.entries(STATUSES))('%s', (status, expected) => {
    for (const body of ['', 'Session terminated', rpcBody(-32001, 'Session not found')]) {
      for (const facts of [{}, { session: 'none' }, { trust404: false }] satisfies Facts[]) {
        expect(say(judge(http(Number(status), body), facts))).toBe(expected);
      }
    }
    const afterAnother = judge(http(Number(status)), { earlierLegMayHaveRun: true });
    expect(afterAnother.execution, 'a proof holds for the last POST only').toBe('unknown');
  });

  it('500 that says "Session terminated before the request completed": it may have run', () => {
    const body = rpcBody(-32603, 'Session terminated before the request completed');
    expect(say(judge(http(500, body)))).toBe(GATEWAY);
    const ownId = JSON.stringify({ ...JSON.parse(body), id: 7 });
    expect(say(judge(http(500, ownId), { requestId: 7 }))).toBe(GATEWAY);
  });
});

const AUTH: Row[] = [
  ['v1 UnauthorizedError', v1.unauthorized, 'usable none unauthorized'],
  ['v2 UnauthorizedError', v2.unauthorized, 'usable none unauthorized'],
  ['v2 401 after authorising again', v2.authentication, 'usable none unauthorized'],
  ['v2 InsufficientScopeError', v2.insufficientScope, 'usable none unauthorized'],
];
it.each(AUTH)('%s', (_what, error, expected) => {
  expect(say(judge(error()))).toBe(expected);
  expect(judge(error(), { earlierLegMayHaveRun: true }).execution).toBe('unknown');
});
