// Failures that people reported: an effect that happened twice. One test for each row, by its id.
import { expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, sse, stdio } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

it('case 22: commit, then die: the effect happened once, and its outcome is said to be unknown', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url));
  await owned.ready();
  const { error } = await settled(callTool(owned, 'exit', { key: 'commit', code: 3 }));
  expect(error).toMatchObject({
    code: 'outcome-unknown',
    operation: { method: 'tools/call', kind: 'tool' },
    message: expect.stringMatching(/may have run it, and it is not sent again/),
  });
  await server.restart();
  await callTool(owned, 'append', { key: 'after' });
  expect([server.ledger.runs('commit'), server.ledger.runs('after')]).toEqual([1, 1]);
});

/** How often each tool may run when the answer to its first run is dropped. */
const BY_ANNOTATION: [tool: string, untrusted: number, trusted: number][] = [
  ['append', 1, 1], // no annotations
  ['notIdempotent', 1, 1], // idempotentHint: false
  ['read', 1, 2], // readOnlyHint
  ['idempotent', 1, 2], // idempotentHint: true
  ['contradictory', 1, 1], // readOnlyHint and destructiveHint
];
it.each(BY_ANNOTATION)(
  'cases 23 and 24: %s runs %i times; %i with trusted annotations',
  async (tool, untrusted, trusted) => {
    const server = shared();
    for (const [trustAnnotations, runs] of [
      [false, untrusted],
      [true, trusted],
    ] as const) {
      await using owned = own(http(server.url), { replay: { trustAnnotations } });
      await owned.handle.listTools();
      await server.fault({ kind: 'reset', when: 'after' });
      const key = `${tool} ${trustAnnotations}`;
      const { error } = await settled(callTool(owned, tool, { key }));
      expect(server.ledger.runs(key), key).toBe(runs);
      if (runs === 1) expect(error, key).toMatchObject({ code: 'outcome-unknown' });
      else expect(error, key).toBeUndefined();
    }
  },
);

it('case 24: annotations count the same over every transport', async () => {
  await using sseServer = await startServer({ transport: 'sse' });
  await using child = stdioServer();
  const killed = () => process.kill(child.server(), 'SIGKILL');
  for (const [transport, ledger, drop] of [
    [sse(sseServer.url), sseServer.ledger, () => sseServer.dropStreams('reset')],
    [stdio(child), child.ledger, killed],
  ] as const) {
    await using owned = own(transport, { replay: { trustAnnotations: true } });
    await owned.handle.listTools();
    for (const [tool, runs] of [
      ['read', 2],
      ['contradictory', 1],
    ] as const) {
      const call = settled(callTool(owned, tool, { key: tool, holdMs: 300 }));
      await until(() => ledger.runs(tool) === 1);
      await drop();
      const { error } = await call;
      expect(error === undefined, `${transport.kind} ${tool}: ${error}`).toBe(runs === 2);
      expect(ledger.runs(tool), `${transport.kind} ${tool}`).toBe(runs);
    }
  }
});

it('case 26: errors of the protocol and of tools are answers, not losses', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  for (const code of [-32602, -32603]) {
    const { error } = await settled(
      callTool(owned, 'rpcError', { code, message: 'Session terminated', key: `${code}` }),
    );
    expect(error).toMatchObject({ name: 'McpError', code });
    expect(server.ledger.runs(`${code}`)).toBe(1);
  }
  expect(await callTool(owned, 'fails', { key: 'tool' })).toMatchObject({ isError: true });
  expect(server.ledger.runs('tool')).toBe(1);
  expect([server.ledger.initializes(), server.ledger.requests('ping'), owned.handle.generation]).toEqual([
    1, 0, 1,
  ]);
});

it('case 27: five calls on a dead child: one respawn; an aborted one is not sent again', async () => {
  await using server = stdioServer();
  await using owned = own(stdio(server), { replay: { tools: { read: 'safe' } } });
  await owned.ready();
  const controller = new AbortController();
  const calls = ['r0', 'r1', 'r2', 'r3', 'r4', 'aborted'].map((key) =>
    settled(
      owned.handle.callTool({ name: 'read', arguments: { key, holdMs: 200 } }, undefined, {
        signal: key === 'aborted' ? controller.signal : new AbortController().signal,
      }),
    ),
  );
  await until(() => server.ledger.count('run') === 6);
  controller.abort();
  process.kill(server.server(), 'SIGKILL');
  const ended = await Promise.all(calls);
  expect(ended.slice(0, 5).map(({ error }) => error)).toEqual(Array(5).fill(undefined));
  expect(String(ended[5]?.error)).toContain('abort');
  expect(server.ledger.count('spawn'), 'one respawn').toBe(2);
  expect(['r0', 'r4', 'aborted'].map((key) => server.ledger.runs(key))).toEqual([2, 2, 1]);
});

it('case 27: when the respawn fails too, the failure tells of both', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), {
    replay: { tools: { read: 'safe' } },
    recovery: { maxAttempts: 2 },
  });
  await owned.ready();
  const call = settled(callTool(owned, 'read', { key: 'both', holdMs: 60_000 }));
  await until(() => server.ledger.runs('both') === 1);
  await server.kill();
  const { error } = await call;
  expect(error).toMatchObject({ code: 'unavailable', cause: expect.anything() });
  const { message, evidence } = error as Error & { evidence: { execution: string } };
  expect(evidence.execution, 'the first send may have run').toBe('unknown');
  expect(message).toContain('the server may have run it');
  expect(message).toContain('no connection could be made');
});

it('case 28: "Session terminated before the request completed" in a 500 is no lost session', async () => {
  const server = shared();
  await using owned = own(http(server.url), { replay: { tools: { read: 'safe' } } });
  await owned.ready();
  const body =
    '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Session terminated before the request completed"}}';
  const fault = {
    kind: 'status',
    status: 500,
    body,
    contentType: 'application/json',
    when: 'after',
  } as const;
  await server.fault(fault);
  const { error } = await settled(callTool(owned, 'append', { key: 'append' }));
  expect(error).toMatchObject({ code: 'outcome-unknown', cause: { code: 500 } });
  expect(server.ledger.runs('append'), '0 replays').toBe(1);
  await server.fault(fault);
  await callTool(owned, 'read', { key: 'read' });
  expect(server.ledger.runs('read'), 'harmless, so once more').toBe(2);
  expect([server.ledger.initializes(), owned.handle.generation]).toEqual([1, 1]);
});

it('case 29: refused is redone; cut is not', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 100 } });
  await owned.ready();

  proxy.next('tools/call', { kind: 'cut', how: 'rst', forwarded: false });
  const { error } = await settled(callTool(owned, 'append', { key: 'cut' }));
  expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'request-cut' } });
  expect([server.ledger.runs('cut'), proxy.posts('tools/call')]).toEqual([0, 1]);

  await proxy.refuse();
  const refused = callTool(owned, 'append', { key: 'refused' });
  await until(() => owned.handle.state === 'recreating');
  await proxy.reopen();
  await refused;
  expect(server.ledger.runs('refused')).toBe(1);
});

it('case 30: a session that ends under an unsafe call: the call is not sent on the next one', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  const { error } = await settled(callTool(owned, 'evictMe', { key: 'unsafe', holdMs: 100 }));
  expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { execution: 'unknown' } });
  await callTool(owned, 'append', { key: 'next' });
  expect([server.ledger.runs('unsafe'), server.ledger.requests('tools/call')]).toEqual([1, 3]);
  expect(server.ledger.initializes()).toBe(2);
});
