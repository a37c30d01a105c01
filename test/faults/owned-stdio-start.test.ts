// Owned, stdio: handshakes that fail, are aborted, or never end leave no process behind.

import { describe, expect, it } from 'vitest';
import { callTool, expectEnding, own, settled, stdio } from '../support/owned.ts';
import { descendants } from '../support/processes.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

describe('a handshake that fails', () => {
  it('no such command: an error at once, and no second try', async () => {
    await using owned = own({ kind: 'stdio', command: '/nowhere/no-such-server' });
    const end = await settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    expect(end.error).toMatchObject({
      name: 'ConnectionUnavailableError',
      evidence: { execution: 'none' },
      cause: { code: 'ENOENT' },
    });
    expect(end.ms).toBeLessThan(5_000);
    expect(owned.states().filter((state) => state === 'recreating')).toEqual([]);
    expect(owned.handle).toMatchObject({ state: 'exhausted', generation: 0 });
  });

  it.each([
    ['exits before it answers', 'before'],
    ['exits between its answer and `initialized`', 'after'],
  ] as const)('%s: as many spawns as attempts, and the exit code is in the error', async (_name, when) => {
    await using server = stdioServer({ faults: [{ on: 'initialize', kind: 'exit', code: 7, when }] });
    await using owned = own(stdio(server), { recovery: { maxAttempts: 3, coolDownMs: 60_000 } });
    const call = settled(callTool(owned, 'append', { key: 'x' }, 20_000));
    // What died after its answer may have been ready for a moment; it is dialled no more often for that.
    const end = await call;
    expect(end.error).toMatchObject({ code: expect.stringMatching(/^(unavailable|outcome-unknown)$/) });
    expect(end.error).toMatchObject({ evidence: { process: { exitCode: 7 } } });
    expect(server.ledger.count('spawn')).toBeLessThanOrEqual(3);
    if (when === 'before') expect(server.ledger.count('spawn')).toBe(3);
    expect(server.ledger.runs('x')).toBe(0);
    await owned.handle.close();
    expect(server.alive()).toEqual([]);
  });

  it.each([
    ['is refused with -32000, which the SDK also throws for a transport that closed', 'rpc-error'],
    ['is refused with -32000, and the server exits', 'rpc-error'],
    ['is not answered, and the server exits', 'connection-closed'],
  ])('%s: %s', async (name, cause) => {
    const refuse = `console.log(JSON.stringify({ jsonrpc: '2.0', id: 0, error: { code: -32000, message: 'no' } }));`;
    const script = `process.stdin.once('data', () => {
      ${name.includes('refused') ? refuse : ''}
      ${name.includes('exits') ? 'process.exit(1);' : ''}
    });`;
    const transport = { kind: 'stdio', command: process.execPath, args: ['-e', script] } as const;
    await using owned = own(transport, { recovery: { maxAttempts: 1 } });
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' }, 60_000)), { unavailable: cause });
  });

  it('never answers initialize: fails at its own limit, and the child is gone', async () => {
    await using server = stdioServer({ faults: [{ on: 'initialize', kind: 'never' }] });
    await using owned = own(stdio(server), {
      recovery: { maxAttempts: 1 },
      timeouts: { connectTimeoutMs: 700 },
    });
    const end = await settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    expectEnding(end, { unavailable: 'timeout' });
    expect(end.ms).toBeLessThan(10_000);
    await owned.handle.close();
    expect(server.alive()).toEqual([]);
  });

  it('never answers, ignores SIGTERM, and is closed meanwhile: the waiting call learns it, the child is gone', async () => {
    await using server = stdioServer({ stubborn: true, faults: [{ on: 'initialize', kind: 'never' }] });
    await using owned = own(stdio(server));
    const call = settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    await until(() => server.ledger.requests('initialize') === 1);
    const pid = server.server();
    const closing = owned.handle.close();
    expect((await call).error).toMatchObject({ name: 'ConnectionClosedError' });
    await closing;
    expect(server.alive()).toEqual([]);
    expect(descendants(process.pid)).not.toContain(pid);
    expect(server.ledger.count('spawn')).toBe(1);
  });
});
