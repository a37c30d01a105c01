// What is sent again after an answer was lost: only what the host, or a tool's trusted annotations, declared safe.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OwnOptions } from '../../src/index.ts';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, type OwnedSettings, own, settled, stdio } from '../support/owned.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

type Replay = NonNullable<OwnOptions['replay']>;

/** How often a tool runs whose first answer is lost after it ran. */
async function runsAfterLostAnswer(tool: string, replay: Replay, lists: boolean): Promise<number> {
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()), { replay });
  if (lists) await owned.handle.listTools();
  else await owned.ready();
  server.ledger.clear();
  proxy.next('tools/call', { kind: 'cut', how: 'fin', forwarded: true });
  const end = await settled(callTool(owned, tool, { key: 'x' }));
  const runs = server.ledger.runs('x');
  expectEnding(end, runs === 2 ? 'answered' : { unknown: 'request-cut' });
  if (runs !== 2) expect(String(end.error)).toContain("replay: { tools: { <name>: 'safe' } }");
  return runs;
}

describe('replay', () => {
  const trust = { trustAnnotations: true };
  const rows: [string, tool: string, Replay, lists: boolean, runs: number][] = [
    ['nothing declared', 'append', {}, true, 1],
    ['an annotation that nobody trusts', 'read', {}, true, 1],
    ['declared safe', 'append', { tools: { append: 'safe' } }, false, 2],
    ['another tool declared safe', 'append', { tools: { read: 'safe' } }, true, 1],
    ['readOnlyHint, trusted', 'read', trust, true, 2],
    ['idempotentHint, trusted', 'idempotent', trust, true, 2],
    ['idempotentHint: false, trusted', 'notIdempotent', trust, true, 1],
    ['no annotation, trusted', 'append', trust, true, 1],
    ['readOnlyHint with destructiveHint, trusted', 'contradictory', trust, true, 1],
    ['readOnlyHint, trusted, but never listed', 'read', trust, false, 1],
    ['the host overrules an annotation', 'read', { ...trust, tools: { read: 'if-unsent' } }, true, 1],
  ];
  it.each(rows)('%s: %s', async (_name, tool, replay, lists, runs) => {
    expect(await runsAfterLostAnswer(tool, replay, lists)).toBe(runs);
  });

  it('a tool whose name every object has is not taken for declared', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { replay: { tools: {} } });
    await owned.ready();
    proxy.next('tools/call', { kind: 'cut', how: 'fin', forwarded: true });
    expectEnding(await settled(callTool(owned, 'constructor', {})), { unknown: 'request-cut' });
    expect(proxy.posts('tools/call')).toBe(1);
  });

  it('never: not even what is proven unrun', async () => {
    await using owned = own(http(server.url), { replay: { tools: { append: 'never' } } });
    await owned.ready();
    await server.evict();
    server.ledger.clear();
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
    expect(error).toMatchObject({
      code: 'unavailable',
      evidence: { execution: 'none', cause: 'session-unknown' },
    });
    expect(server.ledger.runs('x')).toBe(0);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
    expect(owned.handle.generation).toBe(2);
  });

  it('trusted annotations count on every transport', async () => {
    await using child = stdioServer();
    await using owned = own(stdio(child), { replay: trust });
    await owned.handle.listTools();
    const read = settled(callTool(owned, 'read', { key: 'r', holdMs: 200 }));
    const contradictory = settled(callTool(owned, 'contradictory', { key: 'c', holdMs: 60_000 }));
    await until(() => child.ledger.runs() === 2);
    process.kill(child.server(), 'SIGKILL');
    expectEnding(await read, 'answered');
    expectEnding(await contradictory, { unknown: 'connection-closed' });
    expect(child.ledger.runs('r')).toBe(2);
    expect(child.ledger.runs('c')).toBe(1);
  });
});

describe('trust404, behind a proxy that tries a second backend after the first ran the call', () => {
  async function callThroughRetryingProxy(evidence: NonNullable<OwnedSettings['evidence']>) {
    await using second = await startServer();
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { evidence });
    await owned.ready();
    server.ledger.clear();
    proxy.next('tools/call', { kind: 'retry-elsewhere', port: second.port });
    const end = await settled(callTool(owned, 'append', { key: 'x' }));
    await callTool(owned, 'append', { key: 'later' });
    expect(owned.handle.generation).toBe(2);
    expect(server.ledger.initializes()).toBe(1);
    return end;
  }

  it('false: outcome unknown, run once', async () => {
    expectEnding(await callThroughRetryingProxy({ trust404: false }), { unknown: 'session-unknown' });
    expect(server.ledger.runs('x')).toBe(1);
  });

  it('true (default): taken for proof, and so run twice: the documented limit', async () => {
    expectEnding(await callThroughRetryingProxy({}), 'answered');
    expect(server.ledger.runs('x')).toBe(2);
  });
});

describe("the host's own rule, evidence.classify", () => {
  const answer = (proxy: FaultProxy, status: number) =>
    proxy.next('tools/call', { kind: 'answer', status, forwarded: false });

  it('comes first: its loss is a loss, and its proof is proof', async () => {
    await using proxy = await startProxy(server.port);
    const asked: object[] = [];
    await using owned = own(http(proxy.url()), {
      evidence: {
        classify: (error, facts) => {
          asked.push(facts);
          if ((error as { code?: number }).code !== 409) return undefined;
          return { connection: 'lost', execution: 'none', cause: 'session-unknown' };
        },
      },
    });
    await owned.ready();
    server.ledger.clear();
    answer(proxy, 409);
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle.generation).toBe(2);
    expect(asked).toMatchObject([{ method: 'tools/call', kind: 'tool' }]);
  });

  it('can overrule the 404', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), {
      evidence: {
        classify: (error) =>
          (error as { code?: number }).code === 404
            ? { connection: 'usable', execution: 'unknown', cause: 'http-error' }
            : undefined,
      },
    });
    await owned.ready();
    server.ledger.clear();
    answer(proxy, 404);
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { passes: { code: 404 } });
    expect(server.ledger.initializes()).toBe(0);
    expect(owned.handle.generation).toBe(1);
  });

  it('that throws harms nobody, and is logged', async () => {
    await using proxy = await startProxy(server.port);
    const logged: unknown[] = [];
    const silent = () => {};
    await using owned = own(http(proxy.url()), {
      logger: {
        debug: silent,
        info: silent,
        warn: silent,
        error: (...line: unknown[]) => void logged.push(line),
      },
      evidence: {
        classify: () => {
          throw new Error('a bug of the host');
        },
      },
    });
    await owned.ready();
    server.ledger.clear();
    answer(proxy, 404);
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(owned.handle.generation).toBe(2);
    expect(JSON.stringify(logged)).toContain('classify');
  });
});
