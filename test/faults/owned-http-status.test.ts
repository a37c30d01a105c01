// Owned, Streamable HTTP: every answer that is not an MCP answer, and every way to say "I do not know this session".

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer, type UnknownSessionStyle } from '../support/http-server.ts';
import { callTool, type Ending, expectEnding, http, own, settled } from '../support/owned.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterEach(() => server.unknownSession('404-json'));
afterAll(() => server[Symbol.asyncDispose]());

/** `read` is declared safe to repeat, `append` is not. */
const TOOLS = ['append', 'read'] as const;
const replay = { tools: { read: 'safe' } } as const;

describe('a session that the server has forgotten', () => {
  const rows: [UnknownSessionStyle, pings: number, append: Ending][] = [
    ['404-json', 0, 'answered'],
    ['404-html', 0, 'answered'],
    ['404-empty', 0, 'answered'],
    ['404-32002', 0, 'answered'],
    ['404-32600', 0, 'answered'],
    ['410', 0, 'answered'],
    ['400-no-valid-session', 1, 'answered'],
    ['400-not-initialized', 1, 'answered'],
    ['400-other', 1, { unknown: 'session-rejected' }],
    ['inband-32001', 1, { unknown: 'session-error' }],
  ];
  for (const tool of TOOLS) {
    it.each(rows)(`is answered with %s: ${tool}`, async (style, pings, append) => {
      await using owned = own(http(server.url), { replay });
      await owned.ready();
      await server.unknownSession(style);
      await server.evict();
      server.ledger.clear();
      const ending = tool === 'append' ? append : 'answered';
      expectEnding(await settled(callTool(owned, tool, { key: 'x' })), ending);
      expect(server.ledger.runs('x')).toBe(ending === 'answered' ? 1 : 0);
      expect(server.ledger.requests('ping'), 'one probe confirms what is no proof').toBe(pings);

      await callTool(owned, 'append', { key: 'later' });
      expect(server.ledger.runs('later')).toBe(1);
      expect(server.ledger.initializes()).toBe(1);
      expect(server.ledger.events('initialize')).toMatchObject([{ hadSessionHeader: false }]);
      expect(owned.handle.generation).toBe(2);
    });
  }

  it('is answered with 503: the session is kept', async () => {
    await using owned = own(http(server.url));
    await owned.ready();
    await server.unknownSession('503');
    await server.evict();
    server.ledger.clear();
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { passes: { code: 503 } });
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(server.ledger.requests('ping')).toBe(0);
    expect(server.ledger.initializes()).toBe(0);
  });

  it('is found out after a DELETE by another', async () => {
    await using owned = own(http(server.url));
    await owned.ready();
    const [session] = await server.sessionIds();
    await fetch(server.url, { method: 'DELETE', headers: { 'mcp-session-id': session ?? '' } });
    server.ledger.clear();
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(server.ledger.deletes(), 'what the server has forgotten is not DELETEd').toBe(0);
    expect(owned.handle.generation).toBe(2);
  });
});

type Answer = Omit<Extract<ProxyAction, { kind: 'answer' }>, 'kind' | 'forwarded'>;

const json = (code: number, message: string) => ({
  contentType: 'application/json',
  body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
});
const elsewhere = { headers: { location: 'http://127.0.0.1:9/mcp' } };

describe('an answer that is no MCP answer and no loss', () => {
  const rows: [string, Answer, Ending][] = [
    ...[401, 403, 405, 406, 413, 415, 429].map((status): [string, Answer, Ending] => [
      `${status}`,
      { status },
      { passes: { code: status } },
    ]),
    ...[408, 409, 425, 503].map((status): [string, Answer, Ending] => [
      `${status}`,
      { status },
      { passes: { code: status } },
    ]),
    ['307 to another origin', { status: 307, ...elsewhere }, { passes: { code: 307 } }],
    ['302 to another origin', { status: 302, ...elsewhere }, { passes: { code: 302 } }],
    ['400 that is not about the session', { status: 400, ...json(-32602, 'Bad') }, { passes: { code: 400 } }],
    ['404 with -32601', { status: 404, ...json(-32601, 'Method not found') }, { passes: { code: 404 } }],
    ['200 with HTML', { status: 200, contentType: 'text/html', body: '<p>hello' }, { passes: { code: -1 } }],
    ['204', { status: 204 }, { passes: { code: -1 } }],
    [
      'HTML labelled as JSON',
      { status: 200, contentType: 'application/json', body: '<p>hello' },
      { passes: { name: 'SyntaxError' } },
    ],
  ];
  for (const forwarded of [false, true]) {
    // It is no loss, so a safe tool has no other fate.
    for (const tool of forwarded ? ['append'] : TOOLS) {
      const when = forwarded ? 'after the server ran it' : 'before';
      it.each(rows)(`%s, ${when}: ${tool}`, async (_name, answer, ending) => {
        await using proxy = await startProxy(server.port);
        await using owned = own(http(proxy.url()), { replay });
        await owned.ready();
        server.ledger.clear();
        proxy.next('tools/call', { kind: 'answer', forwarded, ...answer });
        expectEnding(await settled(callTool(owned, tool, { key: 'x' })), ending);

        await callTool(owned, tool, { key: 'later' });
        expect(server.ledger.runs('x')).toBe(forwarded ? 1 : 0);
        expect(server.ledger.runs('later')).toBe(1);
        expect(proxy.posts('tools/call'), 'none was sent again').toBe(2);
        expect(proxy.posts('ping')).toBeLessThanOrEqual(1);
        expect(server.ledger.initializes()).toBe(0);
        expect(owned.handle.generation).toBe(1);
        expect(owned.states()).not.toContain('lost');
      });
    }
  }

  it('421: what undici itself sends again is not sent a third time', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { replay });
    await owned.ready();
    server.ledger.clear();
    proxy.next('tools/call', { kind: 'answer', status: 421, forwarded: true }, 2);
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { passes: { code: 421 } });
    expect(server.ledger.runs('x')).toBe(2);
    expect(proxy.posts('tools/call')).toBe(2);
    expect(owned.handle.generation).toBe(1);
  });
});

describe('an answer that is no MCP answer, and leaves open whether it ran', () => {
  const rows: [string, Answer, cause: string][] = [
    // `fetch` makes a network error of it, with no code.
    ['407', { status: 407 }, 'request-cut'],
    [
      'HTML labelled as an event stream',
      { status: 200, contentType: 'text/event-stream', body: '<p>hello' },
      'answer-lost',
    ],
  ];
  for (const forwarded of [false, true]) {
    it.each(rows)(`%s (forwarded: ${forwarded})`, async (_name, answer, unknown) => {
      await using proxy = await startProxy(server.port);
      await using owned = own(http(proxy.url()), { replay });
      await owned.ready();
      server.ledger.clear();
      proxy.next('tools/call', { kind: 'answer', forwarded, ...answer }, 2);
      expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { unknown });
      expect(server.ledger.runs('x')).toBe(forwarded ? 1 : 0);
      proxy.reset();
      proxy.next('tools/call', { kind: 'answer', forwarded, ...answer });
      expectEnding(await settled(callTool(owned, 'read', { key: 'y' })), 'answered');
      expect(server.ledger.runs('y')).toBe(forwarded ? 2 : 1);
      expect(proxy.posts('tools/call')).toBe(3);
      expect(server.ledger.initializes(), 'the session is well').toBe(0);
      expect(owned.handle.generation).toBe(1);
    });
  }
});

describe('a 404', () => {
  it('of a server that says that the session has been terminated is a loss', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    server.ledger.clear();
    const body = 'Not Found: Session has been terminated';
    proxy.next('tools/call', { kind: 'answer', status: 404, body, forwarded: false });
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle.generation).toBe(2);
  });

  it('to a request that carried no session is a wrong address, and no loss', async () => {
    await using stateless = await startServer({ transport: 'stateless' });
    await using proxy = await startProxy(stateless.port);
    await using owned = own(http(proxy.url()), { replay });
    await owned.ready();
    stateless.ledger.clear();
    proxy.next('tools/call', { kind: 'answer', status: 404, forwarded: false });
    expectEnding(await settled(callTool(owned, 'read', { key: 'x' })), { passes: { code: 404 } });
    await callTool(owned, 'append', { key: 'later' });
    expect(stateless.ledger.runs('x')).toBe(0);
    expect(stateless.ledger.initializes()).toBe(0);
    expect(owned.handle.generation).toBe(1);
  });
});
