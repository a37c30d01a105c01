// The fixtures, seen by the raw SDK client: each fault must look as facts/sdk-loss-table.md says.

import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, type ProxyAction, startProxy } from './fault-proxy.ts';
import type { Fault } from './faults.ts';
import { startServer, type TestServer, type UnknownSessionStyle } from './http-server.ts';
import { descendants, isAlive, untilGone } from './processes.ts';
import { connectV1, connectV2, type RawV1 } from './raw-client.ts';
import { stdioServer } from './stdio-server.ts';
import { until } from './until.ts';

/** What matters in an error: its own code or status, the cause's code and syscall, the start of the message. */
function shape(error: unknown) {
  const { name, code, status, message, cause } = error as Record<string, unknown> & {
    cause?: Record<string, unknown>;
  };
  return {
    name,
    code,
    status,
    cause: cause?.code,
    syscall: cause?.syscall,
    message: String(message),
  };
}

async function failure(promise: Promise<unknown>) {
  try {
    await promise;
  } catch (error) {
    return shape(error);
  }
  throw new Error('it should have failed');
}

const pause = <T>(ms: number, value?: T) =>
  new Promise<T | undefined>((resolve) => setTimeout(resolve, ms, value));

const append = (raw: RawV1, key: string, extra: Record<string, unknown> = {}, timeout = 2_000) =>
  raw.client.callTool({ name: 'append', arguments: { key, ...extra } }, undefined, { timeout });

// One server per kind of answer for the rows that leave it unharmed.
let shared: TestServer;
let json: TestServer;
beforeAll(async () => {
  [shared, json] = await Promise.all([startServer(), startServer({ answers: 'json' })]);
});
afterAll(async () => {
  await Promise.all([shared[Symbol.asyncDispose](), json[Symbol.asyncDispose]()]);
});

describe('the HTTP server', () => {
  it('counts initialize and runs, and forgets its sessions when killed', async () => {
    await using server = await startServer();
    await using raw = await connectV1(server);
    await append(raw, 'a');
    expect(server.ledger.initializes()).toBe(1);
    expect(server.ledger.runs('a')).toBe(1);
    expect(await server.sessions()).toBe(1);

    const { pid, port } = server;
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
    expect(server.ledger.runs('a'), 'the ledger survives').toBe(1);
    expect(await failure(append(raw, 'b'))).toMatchObject({ name: 'Error', code: 404 });
    expect(server.ledger.runs('b')).toBe(0);
    expect(
      server.ledger.count('request', (each) => each.session != null && each.known === false),
    ).toBeGreaterThan(0);
  });

  it('refuses while it is down, hangs while it is paused', async () => {
    await using server = await startServer();
    await using raw = await connectV1(server);
    server.pause();
    expect(await failure(append(raw, 'paused', {}, 300))).toMatchObject({ code: -32001 });
    server.resume();
    await until(() => server.ledger.runs('paused') === 1);
    await server.stop();
    expect(await failure(append(raw, 'down'))).toMatchObject({ cause: 'ECONNREFUSED', syscall: 'connect' });
  });

  it('killed in flight: an error before the headers, silence after them', async () => {
    for (const [answers, expected] of [
      ['json', { cause: 'UND_ERR_SOCKET', message: 'fetch failed' }],
      ['sse', { code: -32001 }],
    ] as const) {
      await using server = await startServer({ answers });
      await using raw = await connectV1(server);
      const call = failure(append(raw, 'k', { holdMs: 60_000 }, 1_000));
      await until(() => server.ledger.runs('k') === 1);
      await pause(50); // the headers are on their way
      await server.kill();
      expect(await call, answers).toMatchObject(expected);
      expect(server.ledger.runs('k')).toBe(1);
    }
  });

  const unknown: [UnknownSessionStyle, object][] = [
    ['404-json', { code: 404 }],
    ['404-html', { code: 404 }],
    ['404-empty', { code: 404 }],
    ['404-32002', { code: 404 }],
    ['404-32600', { code: 404 }],
    ['400-no-valid-session', { code: 400 }],
    ['400-not-initialized', { code: 400 }],
    ['400-other', { code: 400 }],
    ['410', { code: 410 }],
    ['500', { code: 500 }],
    ['503', { code: 503 }],
    ['inband-32001', { name: 'McpError', code: -32001, message: 'MCP error -32001: Session not found' }],
  ];
  it.each(unknown)('an unknown session is answered with %s', async (unknownSession, expected) => {
    await shared.unknownSession(unknownSession);
    await using raw = await connectV1(shared);
    await shared.evict();
    expect(await shared.sessions()).toBe(0);
    expect(await failure(append(raw, unknownSession))).toMatchObject(expected);
    expect(shared.ledger.runs(unknownSession)).toBe(0);
  });

  it('evicts a session while its call is in flight', async () => {
    await using server = await startServer();
    await using raw = await connectV1(server);
    const call = raw.client.callTool({ name: 'evictMe', arguments: { key: 'e' } }, undefined, {
      timeout: 500,
    });
    expect(await failure(call)).toMatchObject({ code: -32001 });
    expect(server.ledger.runs('e')).toBe(1);
  });

  it('notes DELETE, GET and what the handshake held', async () => {
    await using server = await startServer();
    await using raw = await connectV1(server, { elicitation: true });
    await until(() => server.ledger.count('get') === 1);
    expect(await server.streams()).toBe(1);
    await raw.transport.terminateSession?.();
    expect(server.ledger.events('delete')).toMatchObject([{ status: 200 }]);
    expect(server.ledger.events('initialize')).toMatchObject([
      { hadSessionHeader: false, clientInfo: { name: 'raw-client' }, capabilities: { elicitation: {} } },
    ]);
    expect(await server.sessions()).toBe(0);
  });

  const faults: [Fault, object, number][] = [
    [{ kind: 'status', status: 502 }, { code: 502 }, 0],
    [{ kind: 'status', status: 502, when: 'after' }, { code: 502 }, 1],
    [{ kind: 'accept202' }, { code: -32001 }, 0],
    [{ kind: 'accept202', when: 'after' }, { code: -32001 }, 1],
    [{ kind: 'html' }, { code: -1 }, 0],
    [{ kind: 'broken-json' }, { name: 'SyntaxError' }, 0],
    [{ kind: 'clean-eof', when: 'after' }, { code: -32001 }, 1],
    [{ kind: 'reset-after-headers', when: 'after' }, { code: -32001 }, 1],
    [{ kind: 'reset' }, { cause: 'ECONNRESET', syscall: 'read' }, 0],
    [{ kind: 'fin', when: 'after' }, { cause: 'UND_ERR_SOCKET' }, 1],
    [{ kind: 'rpc-error', code: 404, message: 'x' }, { name: 'McpError', code: 404 }, 0],
    [{ kind: 'never', when: 'after' }, { code: -32001 }, 1],
  ];
  it.each(faults)('fault %j', async (fault, expected, runs) => {
    const key = JSON.stringify(fault);
    await using raw = await connectV1(shared);
    await shared.fault(fault);
    expect(await failure(append(raw, key, {}, 300))).toMatchObject(expected);
    expect(shared.ledger.runs(key)).toBe(runs);
    await append(raw, 'later');
  });

  const handshakes: [Fault, object][] = [
    [{ on: 'initialize', kind: 'status', status: 503, retryAfter: 1 }, { code: 503 }],
    [{ on: 'initialize', kind: 'html' }, { code: -1 }],
    [{ on: 'initialize', kind: 'wrong-version' }, { message: expect.stringContaining('1999-01-01') }],
    [{ on: 'initialize', kind: 'never' }, { code: -32001 }],
    [{ on: 'initialize', kind: 'huge', bytes: 20_000_000 }, {}],
  ];
  it.each(handshakes)('handshake fault %j, then fine', async (fault, expected) => {
    await using server = await startServer({ faults: [fault] });
    // What is not to be answered in time; anything else has all the time that a busy machine needs.
    const timeoutMs = fault.kind === 'never' || fault.kind === 'huge' ? 500 : 10_000;
    expect(await failure(connectV1(server, { timeoutMs }))).toMatchObject(expected);
    await using raw = await connectV1(server);
    await append(raw, 'h');
    expect(server.ledger.initializes()).toBe(1);
    expect(server.ledger.requests('initialize')).toBe(2);
  });

  it('holds initialize until released, answers ping with -32601, asks for a token', async () => {
    await using server = await startServer({
      requireAuth: 'secret',
      faults: [{ on: 'initialize', kind: 'hold' }],
    });
    expect(await failure(connectV1(server))).toMatchObject({ code: 401 });
    const connecting = connectV1(server, { headers: { authorization: 'Bearer secret' } });
    await until(() => server.ledger.count('fault') === 1);
    expect(server.ledger.initializes()).toBe(0);
    await server.release();
    await using raw = await connecting;
    await server.fault({ on: 'ping', kind: 'rpc-error', code: -32601, times: 'always' });
    expect(await failure(raw.client.ping())).toMatchObject({ code: -32601 });
  });

  it('never answers initialized, ping or DELETE; refuses GET', async () => {
    await using server = await startServer({
      faults: [
        { on: 'notifications/initialized', kind: 'never' },
        { on: 'GET', kind: 'status', status: 500, times: 'always' },
      ],
    });
    const stuck = connectV1(server, { timeoutMs: 2_000 }).then(
      () => 'settled',
      () => 'settled',
    );
    await until(() => server.ledger.requests('notifications/initialized') === 1);
    expect(await Promise.race([stuck, pause(2_200, 'pending')])).toBe('pending');
    expect(server.ledger.count('initialized')).toBe(0);

    await using raw = await connectV1(server);
    await until(() => server.ledger.count('get', (each) => each.status === 500) === 1);
    await server.fault({ on: 'ping', kind: 'never' }, { on: 'DELETE', kind: 'status', status: 405 });
    expect(await failure(raw.client.ping({ timeout: 200 }))).toMatchObject({ code: -32001 });
    await raw.transport.terminateSession?.();
    expect(server.ledger.events('delete')).toMatchObject([{ status: 405 }]);
  });

  it('resumes a stream that ended', async () => {
    await using server = await startServer({ eventStore: true });
    await using raw = await connectV1(server);
    await until(() => server.ledger.count('get') === 1);
    const call = append(raw, 'r', { holdMs: 400 });
    await until(() => server.ledger.runs('r') === 1);
    await server.dropStreams();
    await call;
    expect(server.ledger.runs('r')).toBe(1);
  });

  it('offers every kind of operation', async () => {
    await using server = await startServer({ pages: 3 });
    await using raw = await connectV1(server, { elicitation: true });
    const { client } = raw;
    const first = await client.listTools();
    expect(first.nextCursor).toBe('1');
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect((await client.getPrompt({ name: 'greet', arguments: { name: 'ada' } })).messages).toHaveLength(1);
    expect((await client.listResources()).resources).toHaveLength(3);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect((await client.readResource({ uri: 'item://1' })).contents).toHaveLength(1);
    const ref = { type: 'ref/prompt', name: 'greet' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'a' } });
    expect(completion.values).toEqual(['ada', 'alan']);
    await client.setLoggingLevel('warning');
    const heard: string[] = [];
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'));
    await until(() => server.ledger.count('get') === 1);
    await client.subscribeResource({ uri: 'text://one' });
    await server.updated('text://one');
    await server.updated('text://two');
    await server.listChanged(2);
    await until(() => heard.length === 3);
    expect(heard).toEqual(['text://one', 'tools', 'tools']);
    expect(server.ledger.events('subscribe')).toMatchObject([{ uri: 'text://one' }]);
    expect(server.ledger.events('setLevel')).toMatchObject([{ level: 'warning' }]);
    expect(await client.callTool({ name: 'elicit' })).toMatchObject({
      content: [{ text: expect.stringContaining('accept') }],
    });
    expect(await client.callTool({ name: 'fails' })).toMatchObject({ isError: true });
    const rpcError = client.callTool({ name: 'rpcError', arguments: { code: -32603, message: 'no' } });
    expect(await failure(rpcError)).toMatchObject({ code: -32603, message: 'MCP error -32603: no' });
    const steps: number[] = [];
    await client.callTool({ name: 'progress', arguments: { steps: 3, everyMs: 5 } }, undefined, {
      onprogress: ({ progress }) => steps.push(progress),
    });
    expect(steps).toEqual([1, 2, 3]);
  });

  it('is stateless, or speaks 2026-07-28, or legacy SSE', async () => {
    await using stateless = await startServer({ transport: 'stateless' });
    await using one = await connectV1(stateless);
    await append(one, 's');
    await stateless.restart();
    await append(one, 's');
    expect(stateless.ledger.runs('s')).toBe(2);

    await using modern = await startServer({ transport: 'modern' });
    await using two = await connectV2(modern, '2026-07-28', { elicitation: true });
    await two.client.callTool({ name: 'append', arguments: { key: 'm' } });
    await modern.restart();
    await two.client.callTool({ name: 'append', arguments: { key: 'm' } });
    expect(modern.ledger.runs('m')).toBe(2);
    expect(modern.ledger.initializes()).toBe(0);
    await two.client.callTool({ name: 'elicit', arguments: { key: 'twice' } });
    expect(modern.ledger.runs('twice'), 'an effect before each leg').toBe(2);
    const rpcError = two.client.callTool({ name: 'rpcError', arguments: { code: -32603, message: 'no' } });
    expect(await failure(rpcError)).toMatchObject({ name: 'ProtocolError', code: -32603 });
    await using legacyLeg = await connectV1(modern);
    await append(legacyLeg, 'leg');

    await using sse = await startServer({ transport: 'sse' });
    await using three = await connectV1(sse);
    await append(three, 'l');
    await sse.restart();
    expect((await failure(append(three, 'l'))).message).toMatch(/^Error POSTing to endpoint \(HTTP 404\)/);
    expect(sse.ledger.runs('l')).toBe(1);
    await using four = await connectV2(sse);
    await four.client.callTool({ name: 'append', arguments: { key: 'l' } });
    expect(sse.ledger.runs('l')).toBe(2);
  });

  it('speaks WebSocket', async () => {
    await using server = await startServer({ transport: 'ws' });
    await using raw = await connectV1(server);
    await append(raw, 'w');
    const call = failure(append(raw, 'k', { holdMs: 60_000 }));
    await until(() => server.ledger.runs('k') === 1);
    await server.restart();
    expect(await call).toMatchObject({ code: -32000 });
    expect(raw.closes).toBe(1);
    expect(server.ledger.runs()).toBe(2);
  });

  it('serves the v2 client in its 2025 era, over HTTP and stdio', async () => {
    await using stdio = stdioServer();
    for (const target of [shared, stdio]) {
      await using raw = await connectV2(target, 'legacy', { elicitation: true });
      await raw.client.callTool({ name: 'append', arguments: { key: 'v2' } });
      const { content } = await raw.client.callTool({ name: 'elicit' });
      expect(JSON.stringify(content)).toContain('accept');
      expect(target.ledger.runs('v2')).toBe(1);
    }
  });

  it('notes a DELETE that was never answered', async () => {
    await using server = await startServer({ faults: [{ on: 'DELETE', kind: 'never' }] });
    const raw = await connectV1(server);
    void raw.transport.terminateSession?.().catch(() => {});
    await until(() => server.ledger.count('fault') === 1);
    await raw.client.close();
    await until(() => server.ledger.deletes() === 1);
    expect(server.ledger.events('delete')).toMatchObject([{ status: null }]);
  });

  it('legacy SSE: no endpoint event, a GET answered with 500, an in-band error', async () => {
    await using server = await startServer({
      transport: 'sse',
      faults: [
        { on: 'GET', kind: 'sse-silent' },
        { on: 'GET', kind: 'status', status: 500 },
      ],
    });
    const pending = connectV1(server, { timeoutMs: 200 }).then(
      () => 'settled',
      () => 'settled',
    );
    expect(await Promise.race([pending, pause(500, 'pending')])).toBe('pending');
    expect(await failure(connectV1(server))).toMatchObject({ code: 500 });
    await using raw = await connectV1(server);
    await server.fault({ kind: 'rpc-error', code: -32001, message: 'Session not found' });
    expect(await failure(append(raw, 'x'))).toMatchObject({ name: 'McpError', code: -32001 });
    expect(server.ledger.runs()).toBe(0);
    await server.fault({ kind: 'reset', when: 'after' });
    expect(await failure(append(raw, 'y', { holdMs: 500 }))).toMatchObject({
      cause: 'ECONNRESET',
      syscall: 'read',
    });
    expect(server.ledger.runs('y')).toBe(1);
  });

  it('has another list of tools after a restart', async () => {
    await using server = await startServer();
    await using raw = await connectV1(server);
    const names = async (each: RawV1) => (await each.client.listTools()).tools.map(({ name }) => name);
    expect(await names(raw)).toContain('removable');
    await server.restart({ toolsVersion: 2 });
    await using again = await connectV1(server);
    expect(await names(again)).toContain('added');
    expect(await names(again)).not.toContain('removable');
  });
});

describe('the fault proxy', () => {
  async function behind<T>(server: TestServer, test: (raw: RawV1, proxy: FaultProxy) => Promise<T>) {
    await using proxy = await startProxy(server.port);
    await using raw = await connectV1(proxy.url());
    return await test(raw, proxy);
  }

  const hangs = { code: -32001, message: 'MCP error -32001: Request timed out' };
  const rows: [string, 'sse' | 'json', ProxyAction, object, number][] = [
    [
      'RST, not forwarded',
      'sse',
      { kind: 'cut', how: 'rst', forwarded: false },
      { cause: 'ECONNRESET', syscall: 'read' },
      0,
    ],
    [
      'RST, executed',
      'sse',
      { kind: 'cut', how: 'rst', forwarded: true },
      { cause: 'ECONNRESET', syscall: 'read' },
      1,
    ],
    [
      'FIN, not forwarded',
      'sse',
      { kind: 'cut', how: 'fin', forwarded: false },
      { cause: 'UND_ERR_SOCKET' },
      0,
    ],
    ['FIN, executed', 'sse', { kind: 'cut', how: 'fin', forwarded: true }, { cause: 'UND_ERR_SOCKET' }, 1],
    ['RST after SSE headers', 'sse', { kind: 'cut-after-headers', how: 'rst' }, hangs, 1],
    ['FIN after SSE headers', 'sse', { kind: 'cut-after-headers', how: 'fin' }, hangs, 1],
    ['clean EOF after SSE headers', 'sse', { kind: 'cut-after-headers', how: 'eof' }, hangs, 1],
    [
      'JSON body cut by RST',
      'json',
      { kind: 'cut-after-headers', how: 'rst', bodyBytes: 10 },
      { name: 'TypeError', message: 'terminated', cause: 'ECONNRESET' },
      1,
    ],
    [
      'JSON body cut by FIN',
      'json',
      { kind: 'cut-after-headers', how: 'fin', bodyBytes: 10 },
      { name: 'TypeError', message: 'terminated', cause: 'UND_ERR_SOCKET' },
      1,
    ],
    [
      'JSON body cut by a chunked EOF',
      'json',
      { kind: 'cut-after-headers', how: 'eof', bodyBytes: 10 },
      { name: 'SyntaxError' },
      1,
    ],
    ['503 without forwarding', 'sse', { kind: 'answer', status: 503, forwarded: false }, { code: 503 }, 0],
    ['401 after forwarding', 'sse', { kind: 'answer', status: 401, forwarded: true }, { code: 401 }, 1],
    ['swallowed after forwarding', 'sse', { kind: 'swallow', forwarded: true }, hangs, 1],
  ];
  it.each(rows)('%s', async (name, answers, action, expected, runs) => {
    const server = answers === 'json' ? json : shared;
    await behind(server, async (raw, proxy) => {
      proxy.next('tools/call', action);
      await raw.client.ping(); // is not hit
      expect(await failure(append(raw, name, {}, 300))).toMatchObject(expected);
      expect(server.ledger.runs(name)).toBe(runs);
      expect(proxy.posts('tools/call'), 'undici does not send again').toBe(1);
      await append(raw, 'later');
    });
  });

  it('421 is sent twice by undici itself', async () => {
    await behind(shared, async (raw, proxy) => {
      proxy.always('tools/call', { kind: 'answer', status: 421, forwarded: true });
      expect(await failure(append(raw, '421'))).toMatchObject({ code: 421 });
      expect(proxy.posts('tools/call')).toBe(2);
      expect(shared.ledger.runs('421')).toBe(2);
    });
  });

  it('retries on a second backend: a 404 that was executed', async () => {
    await using second = await startServer();
    await behind(shared, async (raw, proxy) => {
      proxy.next('tools/call', { kind: 'retry-elsewhere', port: second.port });
      expect(await failure(append(raw, 'p404'))).toMatchObject({ code: 404 });
      expect(shared.ledger.runs('p404')).toBe(1);
      expect(second.ledger.runs()).toBe(0);
    });
  });

  it('refuses, reopens, resets at connect, delays', async () => {
    await behind(shared, async (raw, proxy) => {
      await proxy.refuse();
      expect(proxy.openSockets).toBe(0);
      expect(await failure(append(raw, 'p'))).toMatchObject({ cause: 'ECONNREFUSED', syscall: 'connect' });
      await proxy.reopen();
      await append(raw, 'p');
      await proxy.cutNextConnection('rst');
      expect(await failure(append(raw, 'p'))).toMatchObject({ cause: 'ECONNRESET', syscall: 'connect' });
      await proxy.cutNextConnection('fin');
      expect(await failure(append(raw, 'p'))).toMatchObject({ cause: 'UND_ERR_SOCKET' });
      await append(raw, 'p');
      proxy.next('tools/call', { kind: 'delay', ms: 300 });
      expect(await failure(append(raw, 'p', {}, 100))).toMatchObject(hangs);
    });
  });
});

describe('the stdio server', () => {
  it('counts, and ends with its stdin', async () => {
    await using server = stdioServer();
    const raw = await connectV1(server);
    await append(raw, 'a');
    expect(server.ledger.runs('a')).toBe(1);
    const pid = server.server();
    expect(server.alive()).toEqual([pid]);
    expect(descendants(process.pid)).toContain(pid);
    await raw.client.close();
    await untilGone(pid);
    expect(server.alive()).toEqual([]);
  });

  it('killed in flight, exits after the effect, says garbage', async () => {
    await using server = stdioServer();
    const raw = await connectV1(server);
    const call = failure(append(raw, 'k', { holdMs: 60_000 }));
    await until(() => server.ledger.runs('k') === 1);
    process.kill(server.server(), 'SIGKILL');
    expect(await call).toMatchObject({ code: -32000 });
    expect(raw.closes).toBe(1);

    await using again = await connectV1(server);
    await again.client.callTool({ name: 'garbage' });
    expect(again.errors.length).toBeGreaterThan(0);
    expect(
      await failure(again.client.callTool({ name: 'exit', arguments: { code: 3, key: 'x' } })),
    ).toMatchObject({ code: -32000 });
    expect(server.ledger.runs('x')).toBe(1);
  });

  it('fails the handshake in three ways', async () => {
    await using before = stdioServer({ faults: [{ on: 'initialize', kind: 'exit' }] });
    expect(await failure(connectV1(before))).toMatchObject({ code: -32000 });
    await using never = stdioServer({ faults: [{ on: 'initialize', kind: 'never' }] });
    expect(await failure(connectV1(never, { timeoutMs: 800 }))).toMatchObject({ code: -32001 });
    await using between = stdioServer({ faults: [{ on: 'initialize', kind: 'exit', when: 'after' }] });
    // connect() resolves, or pends for ever in spite of its timeout: the write of `initialized` gets EPIPE.
    connectV1(between).catch(() => {});
    await until(() => between.ledger.initializes() === 1 && between.alive().length === 0);
    expect(between.ledger.initializes()).toBe(1);
    expect(between.ledger.count('initialized')).toBe(0);
    expect(between.alive()).toEqual([]);
  });

  it('hangs when its stdin is closed, or a grandchild holds its pipes', async () => {
    await using deaf = stdioServer();
    await using raw = await connectV1(deaf);
    await raw.client.callTool({ name: 'closeStdin' });
    expect(await failure(append(raw, 'x', {}, 300))).toMatchObject({ code: -32001 });
    expect(deaf.alive()).toHaveLength(1);
    process.kill(deaf.server(), 'SIGKILL');

    await using parent = stdioServer();
    await using second = await connectV1(parent);
    await second.client.callTool({ name: 'spawnGrandchild' });
    process.kill(parent.server(), 'SIGKILL');
    expect(await failure(append(second, 'x', {}, 300))).toMatchObject({ code: -32001 });
    expect(parent.alive()).toEqual([parent.grandchild()]);
    process.kill(parent.grandchild(), 'SIGKILL');
  });

  it('runs behind a leader; when it dies first, a polite server ends with its stdin', async () => {
    await using server = stdioServer({ wrapper: 'exec-child' });
    await using raw = await connectV1(server);
    await append(raw, 'a');
    expect(server.leader()).not.toBe(server.server());
    expect(descendants(server.leader())).toEqual([server.server()]);
    // On the leader's exit Node itself destroys the stdin that it shares with the real server.
    process.kill(server.leader(), 'SIGKILL');
    await until(() => raw.closes === 1);
    expect(server.alive()).toEqual([]);
  });

  it('a stubborn server outlives its leader and holds the pipes: calls hang', async () => {
    await using server = stdioServer({ wrapper: 'exec-child', stubborn: true });
    const raw = await connectV1(server);
    process.kill(server.leader(), 'SIGKILL');
    await untilGone(server.leader());
    await pause(50); // Node has seen the exit
    expect(await failure(append(raw, 'x', {}, 300))).toMatchObject({ code: -32001 });
    expect(raw.closes).toBe(0);
    expect(server.ledger.runs()).toBe(0);
    expect(server.alive()).toEqual([server.server()]);
    expect(descendants(process.pid)).not.toContain(server.server());
    process.kill(server.server(), 'SIGKILL');
    await until(() => raw.closes === 1);
  });

  it('can be stubborn', async () => {
    await using server = stdioServer({ stubborn: true });
    await using raw = await connectV1(server);
    process.kill(server.server(), 'SIGTERM');
    await until(() => server.ledger.count('sigterm') === 1);
    await append(raw, 'x');
    process.kill(server.server(), 'SIGKILL');
  });
});
