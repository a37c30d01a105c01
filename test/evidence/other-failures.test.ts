// Everything but HTTP statuses: facts/sdk-loss-table.md §1, §2 (rows b, c, e, g to n), §3, §4 rules 1 to 4 and 10 to
// 13, and E7 to E18 of the table of what the SDK hands a supervisor. Expected values by hand.
import { SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { NO_CALL } from '../../src/evidence/failure.ts';
import { UNWRITTEN, WRITE_CUT } from '../../src/evidence/stdio.ts';
import { judge, type Row, say } from './judge.ts';
import { fetchFailed, schemaError, syntaxError, system, terminated, v1, v2 } from './sdk-errors.ts';

function table(rows: Row[]): void {
  it.each(rows)('%s', (_what, error, expected, facts) => {
    expect(say(judge(error(), facts))).toBe(expected);
  });
}

/** A refused connection, below so many other errors. */
function buried(depth: number): unknown {
  return depth === 0 ? system('ECONNREFUSED', 'connect') : new Error('wrapped', { cause: buried(depth - 1) });
}

const withSyscall = ([code, syscall = '']: [string, string?]) => [code, syscall] as const;

describe('never sent', () => {
  table([
    [
      'a call on a closed client (v1 and v2)',
      () => new Error('Not connected'),
      'lost none not-connected',
      { transportClosed: true },
    ],
    [
      'a session that does not show its transport',
      () => new Error('Not connected'),
      'suspect none not-connected',
      { session: 'unseen' },
    ],
    ["the host's own code, of another", () => new Error('Not connected'), 'usable unknown unrecognised'],
    [
      'v2 NOT_CONNECTED',
      () => v2.sdk(SdkErrorCode.NotConnected, 'Transport is not connected'),
      'lost none not-connected',
      { transportClosed: true },
    ],
    [
      "the host's own code, of another (v2)",
      () => v2.sdk(SdkErrorCode.NotConnected, 'Transport is not connected'),
      'usable unknown unrecognised',
    ],
    [
      'a server that says "Not connected" (v1)',
      () => v1.rpc(-32603, 'Not connected'),
      'usable answered rpc-error',
    ],
    [
      'a server that says "Not connected" (v2)',
      () => v2.rpc(-32603, 'Not connected'),
      'usable answered rpc-error',
    ],
    ['a longer message', () => new Error('Not connected to the database'), 'suspect unknown unrecognised'],
    [
      'the same words with a code that is none',
      () => Object.assign(new Error('Not connected'), { code: null }),
      'lost none not-connected',
      { transportClosed: true },
    ],
    [
      'the same words of a socket',
      () => Object.assign(new Error('Not connected'), { code: 'ENOTCONN' }),
      'suspect unknown request-cut',
    ],
    ['v2 wrong era', v2.wrongEra, 'usable none unsupported'],
    ['v2 no such capability', v2.noCapability, 'usable none unsupported'],
    [
      'stdin of our own child: nothing was written',
      () => Object.assign(new Error('write EPIPE'), { code: UNWRITTEN }),
      'lost none unwritten',
    ],
    [
      'stdin of our own child: the write failed after it had begun',
      () => Object.assign(new Error('write EPIPE'), { code: WRITE_CUT }),
      'lost unknown request-cut',
    ],
    ['an empty code', () => Object.assign(new Error('x'), { code: '' }), 'suspect unknown unrecognised'],
    ['a bare EPIPE may be a socket’s', () => system('EPIPE', 'write'), 'suspect unknown request-cut'],
  ]);
});

describe('system errors that prove that nothing was sent', () => {
  const proven: [code: string, syscall?: string][] = [
    ['ECONNREFUSED', 'connect'],
    ['ECONNREFUSED'], // happy eyeballs: an AggregateError with the code alone
    ['ECONNRESET', 'connect'],
    ['ETIMEDOUT', 'connect'],
    ['ENOTFOUND', 'getaddrinfo'],
    ['EAI_AGAIN', 'getaddrinfo'],
    ['EHOSTUNREACH', 'connect'],
    ['ENETUNREACH', 'connect'],
    // Without a syscall, the code alone proves it.
    ['ENOTFOUND'],
    ['EAI_AGAIN'],
    ['EHOSTUNREACH'],
    ['ENETUNREACH'],
    // Another code, with the syscall that proves it.
    ['EAI_FAIL', 'getaddrinfo'],
    ['ENOENT', 'spawn no-such-command'],
    ['EACCES', 'spawn'],
    ['UND_ERR_CONNECT_TIMEOUT'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['SELF_SIGNED_CERT_IN_CHAIN'],
    ['CERT_HAS_EXPIRED'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['ERR_TLS_CERT_ALTNAME_INVALID'],
    ['ERR_SSL_WRONG_VERSION_NUMBER'],
  ];
  it.each(proven.map(withSyscall))('%s %s', (code, syscall) => {
    const direct = fetchFailed(system(code, syscall || undefined));
    expect(say(judge(direct))).toBe('suspect none unreachable');
    const wrapped = v2.sdk(SdkErrorCode.EraNegotiationFailed, 'Version negotiation failed', direct);
    expect(say(judge(wrapped))).toBe('suspect none unreachable');
    expect(say(judge(direct, { earlierLegMayHaveRun: true }))).toBe('suspect unknown unreachable');
  });
});

describe('system errors that leave open whether it ran', () => {
  const open: [code: string, syscall?: string][] = [
    ['ECONNRESET', 'read'],
    ['ECONNRESET'], // TLS handshake cut
    // The network goes away in the midst of an answer: codes of the connect phase, of another call.
    ['EHOSTUNREACH', 'read'],
    ['ENETUNREACH', 'write'],
    ['ENETUNREACH', 'read'],
    ['ECONNREFUSED', 'read'],
    ['ETIMEDOUT', 'read'],
    ['ETIMEDOUT'],
    ['EPIPE', 'write'], // a socket, not the stdin of a child: part of it may have been read
    ['UND_ERR_SOCKET'],
    ['UND_ERR_HEADERS_TIMEOUT'],
    ['UND_ERR_BODY_TIMEOUT'],
    ['HPE_INVALID_CONSTANT'],
    // Alerts of the server, which arrive after bytes were written.
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'],
  ];
  it.each(open.map(withSyscall))('%s %s', (code, syscall) => {
    for (const wrap of [fetchFailed, terminated]) {
      expect(say(judge(wrap(system(code, syscall || undefined))))).toBe('suspect unknown request-cut');
    }
  });

  table([
    [
      'a refused connection that was tried after a reset',
      () =>
        fetchFailed(
          Object.assign(system('ECONNREFUSED', 'connect'), { cause: system('ECONNRESET', 'read') }),
        ),
      'suspect unknown request-cut',
    ],
    [
      'a syscall that is no text',
      () => Object.assign(new Error('x'), { code: 'ECONNRESET', syscall: 7 }),
      'suspect unknown request-cut',
    ],
    [
      'stdin of our own child: the write was cut off',
      () => Object.assign(new Error('write EPIPE'), { code: WRITE_CUT }),
      'lost unknown request-cut',
    ],
    ['a cause without a code (f. 407)', () => fetchFailed(new Error('')), 'suspect unknown request-cut'],
    ['a browser', () => new TypeError('Failed to fetch'), 'suspect unknown unrecognised'],
    ['no cause at all', () => new TypeError('fetch failed'), 'suspect unknown request-cut'],
    [
      'another TypeError: our own mistake, or the SDK’s, maybe after the tool ran',
      () => new TypeError('Cannot read properties of undefined'),
      'usable unknown unrecognised',
    ],
    ['those words in another error', () => new Error('fetch failed'), 'suspect unknown unrecognised'],
    ['a cause four deep', () => buried(4), 'suspect none unreachable'],
    ['a cause that is buried too deep to be trusted', () => buried(5), 'suspect unknown unrecognised'],
    [
      'a circle of causes',
      () => {
        const error = new Error('round') as Error & { cause: unknown };
        error.cause = error;
        return error;
      },
      'suspect unknown unrecognised',
    ],
  ]);
});

describe('closed, timed out, aborted', () => {
  table([
    [
      'v1 closed, and onclose was seen',
      v1.closed,
      'lost unknown connection-closed',
      { transportClosed: true },
    ],
    ['v2 closed', v2.closed, 'lost unknown connection-closed', { transportClosed: true }],
    [
      'v2 closed, where that is not to be seen',
      v2.closed,
      'suspect unknown connection-closed',
      { session: 'unseen' },
    ],
    ["v2 closed, the host's own, another", v2.closed, 'usable unknown unrecognised'],
    ['v1 own timeout', v1.timeout, 'suspect unknown timeout'],
    ['v1 total timeout', v1.totalTimeout, 'suspect unknown timeout'],
    ['v2 own timeout', v2.timeout, 'suspect unknown timeout'],
    [
      'the time limit of a handshake, or of a `connect` of the host’s',
      () => new DOMException('x', 'TimeoutError'),
      'suspect unknown timeout',
    ],
    ['our own cap on the call', v1.aborted, 'suspect unknown timeout', { overdue: true }],
    [
      'v1 own timeout, although the transport has closed since',
      v1.timeout,
      'suspect unknown timeout',
      { transportClosed: true },
    ],
    ['v1 abort', v1.aborted, 'usable unknown aborted', { aborted: true }],
    ['v2 abort', v2.aborted, 'usable unknown aborted', { aborted: true }],
    [
      'v1 abort before the call',
      () => new DOMException('x', 'AbortError'),
      'usable unknown aborted',
      { aborted: true },
    ],
    [
      'an abort while the connection is lost',
      v1.closed,
      'usable unknown aborted',
      { aborted: true, transportClosed: true },
    ],
  ]);
});

describe('not an MCP answer', () => {
  table([
    ['v1 HTML', v1.notMcp, 'suspect unknown malformed-answer'],
    ['v2 HTML', v2.notMcp, 'suspect unknown malformed-answer'],
    ['broken JSON', syntaxError, 'suspect unknown malformed-answer'],
    ['not JSON-RPC', schemaError, 'suspect unknown malformed-answer'],
    ['v1 in-band code -1', () => v1.rpc(-1, 'no'), 'usable answered rpc-error'],
    ['v2 in-band code -1', () => v2.rpc(-1, 'no'), 'usable answered rpc-error'],
  ]);
});

describe.each([
  ['v1', v1.rpc],
  ['v2', v2.rpc],
] as const)('%s: JSON-RPC errors', (_sdk, rpc) => {
  table([
    ...[-32700, -32602, -32603, -32601, -32600, -32002, -32000, 0, 1, 404, 400, 401, 503].map(
      (code): Row => [`${code}`, () => rpc(code, 'Invalid'), 'usable answered rpc-error'],
    ),
    ['-32001 "Session not found"', () => rpc(-32001, 'Session not found'), 'suspect unknown session-error'],
    ['"Session terminated", -32600', () => rpc(-32600, 'Session terminated'), 'lost none session-unknown'],
    ['"Session terminated", +32600', () => rpc(32600, 'Session terminated'), 'lost none session-unknown'],
    [
      '"Session terminated", no trust',
      () => rpc(32600, 'Session terminated'),
      'lost unknown session-unknown',
      { trust404: false },
    ],
    ['"Session terminated", -32603', () => rpc(-32603, 'Session terminated'), 'usable answered rpc-error'],
    [
      '-32600 with a longer message',
      () => rpc(-32600, 'Session terminated by the user'),
      'usable answered rpc-error',
    ],
    [
      '-32600 with those words, and others between them',
      () => rpc(-32600, 'Session MCP error -32600: terminated'),
      'usable answered rpc-error',
    ],
    ['-32600 with other case', () => rpc(-32600, 'session terminated'), 'usable answered rpc-error'],
    [
      '-32602 whose data speak of a timeout',
      () => rpc(-32602, 'x', { timeout: 5 }),
      'usable answered rpc-error',
    ],
    [
      'an answer that came before the transport closed',
      () => rpc(-32602, 'x'),
      'usable answered rpc-error',
      { transportClosed: true },
    ],
    [
      'an answer to the second request of a call',
      () => rpc(-32602, 'x'),
      'usable answered rpc-error',
      { earlierLegMayHaveRun: true },
    ],
    ['+32600 with other text', () => rpc(32600, 'Invalid Request'), 'usable answered rpc-error'],
    [
      '"… before the request completed"',
      () => rpc(-32603, 'Session terminated before the request completed'),
      'suspect unknown session-error',
    ],
    [
      '"… before the request completed", -32600',
      () => rpc(-32600, 'Session terminated before the request completed'),
      'suspect unknown session-error',
    ],
  ]);
});

describe('collisions (§1): the same fields, different things', () => {
  table([
    ['v1 -32000 relayed in-band: answered, the transport lives', v1.closed, 'usable answered rpc-error'],
    // Field for field the SDK's own timeout: nobody can tell, so it is suspected.
    [
      'v1 -32001 in-band with data.timeout',
      () => v1.rpc(-32001, 'Request timed out', { timeout: 60_000 }),
      'suspect unknown timeout',
    ],
    ['v1 -32001 without data, not aborted', v1.aborted, 'suspect unknown session-error'],
    [
      'v1 in-band 404, with a session id sent',
      () => v1.rpc(404, 'no such file'),
      'usable answered rpc-error',
    ],
    [
      'v2 in-band 404, with a session id sent',
      () => v2.rpc(404, 'no such file'),
      'usable answered rpc-error',
    ],
    [
      'v2 in-band error with data.status 404',
      () => v2.rpc(-32603, 'x', { status: 404 }),
      'usable answered rpc-error',
    ],
    ['v2 400 with -32021, after the effect', v2.missingCapability, 'usable answered rpc-error'],
    [
      'a text that only contains the words of a failed POST',
      () => new Error('see: Error POSTing to endpoint (HTTP 404): x'),
      'suspect unknown unrecognised',
    ],
    [
      'another kind of error with those words',
      () => new RangeError('Error POSTing to endpoint (HTTP 404): x'),
      'suspect unknown unrecognised',
    ],
    [
      'a code that is no status',
      () => Object.assign(new Error('x'), { code: 404.5 }),
      'suspect unknown unrecognised',
    ],
    [
      'a status in words',
      () => Object.assign(new Error('x'), { code: '404' }),
      'suspect unknown unrecognised',
    ],
    [
      'a code of another library that ends as a system code does',
      () => system('MY_ERROR'),
      'suspect unknown unrecognised',
    ],
    [
      'a code of another library that begins as a system code does',
      () => system('EXPIRED-token'),
      'suspect unknown unrecognised',
    ],
    [
      'v2 codes that begin with E are no system codes',
      () => v2.sdk(SdkErrorCode.EraNegotiationFailed, 'Version negotiation failed'),
      'suspect unknown unrecognised',
    ],
    ['v2 negotiation met a 503', () => v2.eraHttp(503), 'usable unknown http-error'],
  ]);
});

describe('anything else', () => {
  table([
    ['a plain error', () => new Error('boom'), 'suspect unknown unrecognised'],
    ['a string', () => 'boom', 'suspect unknown unrecognised'],
    ['nothing', () => undefined, 'suspect unknown unrecognised'],
    ['null', () => null, 'suspect unknown unrecognised'],
    ['an object without a prototype', () => Object.create(null), 'suspect unknown unrecognised'],
  ]);
});

describe('a request that is no call of the host’s: nothing is known beyond its error', () => {
  table([
    ['no server', () => fetchFailed(system('ECONNREFUSED', 'connect')), 'suspect none unreachable', NO_CALL],
    ['an answer', () => v1.rpc(-32602, 'x'), 'usable answered rpc-error', NO_CALL],
  ]);
});

describe('the monitor', () => {
  const observed = { connection: 'suspect', execution: 'unknown', cause: 'answer-lost' } as const;
  table([
    [
      'what was seen on the wire is believed before the error',
      v1.closed,
      'suspect unknown answer-lost',
      { observed },
    ],
    [
      'but not before the caller’s own abort',
      v1.aborted,
      'usable unknown aborted',
      { observed, aborted: true },
    ],
  ]);
});
