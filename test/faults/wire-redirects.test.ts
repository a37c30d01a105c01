// Owned, Streamable HTTP: what a status proves after redirects, followed by the SDK within the origin, or unseen by a
// `fetch` of the host's.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { OddServer, rightAnswer } from '../support/odd-server.ts';
import { settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const MINUTE = { timeout: 60_000 };
const follow: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'follow' });

let server: OddServer;
let other: OddServer;
beforeEach(async () => {
  server = await new OddServer().start();
  other = await new OddServer().start();
});
afterEach(() => Promise.all([server, other].map((each) => each[Symbol.asyncDispose]())));

function own(settings: { fetch?: typeof fetch; safe?: boolean } = {}) {
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const handle = supervisor.own('files', {
    transport: { kind: 'http', url: server.url, ...(settings.fetch && { fetch: settings.fetch }) },
    recovery: { initialBackoffMs: 10, maxBackoffMs: 50 },
    timeouts: { connectTimeoutMs: 5_000, closeTimeoutMs: 1_000 },
    liveness: { probeTimeoutMs: 1_000 },
    replay: { tools: settings.safe ? { t: 'safe' } : {} },
  });
  return { handle, [Symbol.asyncDispose]: () => supervisor.close() };
}

/** `tools/call` is redirected there. */
function redirectCalls(status: number, location: string | (() => string)): void {
  server.options.answer = (exchange) => {
    if (exchange.message.method !== 'tools/call') return exchange.json(rightAnswer(exchange));
    const target = typeof location === 'string' ? location : location();
    exchange.res.writeHead(status, { location: target }).end();
  };
}

describe('a fetch that follows to another origin', () => {
  it.each([
    ...[307, 308].flatMap((redirect) =>
      [400, 401, 403, 404, 405, 406, 410, 413, 415, 429, 500].map((status) => [redirect, status] as const),
    ),
    ...[301, 302, 303].map((redirect) => [redirect, 404] as const),
  ])('%i, and there %i: no proof, and no loss', async (redirect, status) => {
    other.options.first = (_req, res) => {
      res.writeHead(status).end();
      return true;
    };
    redirectCalls(redirect, other.otherOrigin.href);
    await using host = own({ fetch: follow, safe: true });
    const { error } = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    expect(error, 'the error of the SDK').toMatchObject({ code: status });
    expect(server.count('tools/call')).toBe(1);
    expect(other.seen).toHaveLength(1);
    await host.handle.listTools();
    expect(host.handle).toMatchObject({ generation: 1, state: 'ready' });
    expect(server.count('initialize')).toBe(1);
  });

  it('an answer that comes from there is an answer', async () => {
    redirectCalls(307, other.otherOrigin.href);
    await using host = own({ fetch: follow });
    expect(await host.handle.callTool({ name: 't' })).toHaveProperty('content');
  });

  it('nor does a probe that ends up there end the session', async () => {
    other.options.first = (_req, res) => {
      res.writeHead(404).end();
      return true;
    };
    server.options.first = (_req, res, body) => {
      if (!body.includes('"ping"')) return false;
      res.writeHead(307, { location: other.otherOrigin.href }).end();
      return true;
    };
    server.options.answer = (exchange) => {
      if (exchange.message.method === 'tools/call') exchange.res.writeHead(499).end();
      else exchange.json(rightAnswer(exchange));
    };
    await using host = own({ fetch: follow });
    await settled(host.handle.callTool({ name: 't' }));
    await until(() => other.seen.includes('ping'), { what: 'the probe' });
    await host.handle.listTools();
    expect(host.handle).toMatchObject({ generation: 1, state: 'ready' });
    expect(server.count('initialize')).toBe(1);
  });

  it.each(['GET', 'DELETE'])('what it says to a %s says nothing of the session', async (verb) => {
    other.options.first = (_req, res) => {
      res.writeHead(404).end();
      return true;
    };
    server.options.first = (req, res) => {
      if (req.method !== verb) return false;
      res.writeHead(307, { location: other.otherOrigin.href }).end();
      return true;
    };
    await using host = own({ fetch: follow });
    await host.handle.callTool({ name: 't' });
    if (verb === 'DELETE') await host.handle.reconnect();
    await until(() => other.seen.includes(verb));
    await host.handle.callTool({ name: 't' });
    expect(host.handle.generation).toBe(verb === 'DELETE' ? 2 : 1);
  });
});

describe('a server that keeps its endpoint under another path of its origin', () => {
  /** As many Python servers: `/mcp` is redirected to `/mcp/`; they forget their sessions when they restart. */
  function redirectToSlash(status: number): { forget: () => void; runs: () => number } {
    let runs = 0;
    let forgotten: string | undefined;
    let session: string | undefined;
    let isForgotten = false;
    server.options.first = (req, res, body) => {
      if (req.url === '/mcp') {
        res.writeHead(status, { location: '/mcp/' }).end();
        return true;
      }
      session = (req.headers['mcp-session-id'] as string | undefined) ?? session;
      if (isForgotten) {
        forgotten = session;
        isForgotten = false;
      }
      if (forgotten !== undefined && req.headers['mcp-session-id'] === forgotten) {
        res.writeHead(404).end();
        return true;
      }
      if (body.includes('"tools/call"')) runs++;
      return false;
    };
    return {
      forget: () => {
        isForgotten = true;
      },
      runs: () => runs,
    };
  }

  it.each([307, 308])(
    '%i, followed by the SDK: its 404 is proof, and the call is sent on a new session',
    async (status) => {
      const slash = redirectToSlash(status);
      await using host = own();
      await host.handle.callTool({ name: 't' });
      slash.forget();
      await host.handle.callTool({ name: 't' });
      expect(host.handle.generation).toBe(2);
      expect(slash.runs()).toBe(2);
    },
  );

  it('followed unseen: the session is lost, and whether the call ran is unknown', async () => {
    const slash = redirectToSlash(307);
    await using host = own({ fetch: follow });
    await host.handle.callTool({ name: 't' });
    slash.forget();
    const { error } = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    expect(error).toMatchObject({
      code: 'outcome-unknown',
      evidence: { connection: 'lost', execution: 'unknown', cause: 'session-unknown' },
    });
    await host.handle.callTool({ name: 't' });
    expect(host.handle.generation).toBe(2);
  });

  it('followed unseen, declared safe: sent again on the new session', async () => {
    const slash = redirectToSlash(307);
    await using host = own({ fetch: follow, safe: true });
    await host.handle.callTool({ name: 't' });
    slash.forget();
    await host.handle.callTool({ name: 't' });
    expect(host.handle.generation).toBe(2);
  });
});

describe('a redirect that the SDK does not follow', () => {
  it.each([301, 302, 303, 307, 308])(
    '%i to another origin: its error, nothing is sent there',
    async (status) => {
      redirectCalls(status, other.otherOrigin.href);
      await using host = own();
      const { error } = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      expect(error).toBeDefined();
      expect(other.seen).toEqual([]);
      await host.handle.listTools();
      expect(host.handle.generation).toBe(1);
    },
  );
});
