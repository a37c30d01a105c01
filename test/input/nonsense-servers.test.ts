// A server that answers nonsense is an error of its connection, never a crash; other connections are untouched.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import type { FaultAction } from '../support/faults.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, http, type Owned, own, settled, stdio } from '../support/owned.ts';
import { stdioServer } from '../support/stdio-server.ts';

expectNoCrashes();

/** More than the SDK reads in one line of stdio. */
const HUGE = 20_000_000;

let server: TestServer;
let bystander: Owned;
beforeAll(async () => {
  server = await startServer();
  bystander = own(http(server.url));
  await bystander.ready();
});
afterAll(async () => {
  await callTool(bystander, 'append', { key: 'bystander' });
  expect(bystander.handle.status).toMatchObject({ state: 'ready', generation: 1, lastError: undefined });
  await bystander[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const NONSENSE: FaultAction[] = [
  { kind: 'html' },
  { kind: 'html', contentType: 'application/json' },
  { kind: 'html', contentType: 'text/event-stream' },
  { kind: 'broken-json' },
  { kind: 'wrong-version' },
  { kind: 'result', result: 'no object' },
  { kind: 'result', result: null },
  { kind: 'huge', bytes: HUGE },
];

const FAST = { maxAttempts: 2, initialBackoffMs: 1, maxBackoffMs: 1 };

describe('Streamable HTTP', () => {
  it.each(NONSENSE)('the answer to initialize is %j', async (fault) => {
    await using nonsense = await startServer({ faults: [{ ...fault, on: 'initialize', times: 'always' }] });
    await using owned = own(http(nonsense.url), { recovery: FAST, timeouts: { connectTimeoutMs: 3_000 } });
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
    expect(error).toMatchObject({ code: 'unavailable', connection: 'files' });
    expect(owned.handle.status).toMatchObject({ state: 'exhausted', generation: 0 });
    expect(nonsense.ledger.runs()).toBe(0);
  });

  it.each(NONSENSE)(
    'the answer to a call is %j: an error of that call; the next one works',
    async (fault) => {
      await using owned = own(http(server.url));
      await owned.ready();
      const key = JSON.stringify(fault);
      await server.fault(fault);
      const { error, ms } = await settled(callTool(owned, 'append', { key }, 3_000));
      // A huge result of another shape is read and refused, or read and passed on as the SDK does; it is no crash.
      if (fault.kind !== 'huge' && fault.kind !== 'wrong-version') expect(error).toBeInstanceOf(Error);
      expect(ms).toBeLessThan(10_000);
      expect(server.ledger.runs(key), 'not sent again').toBe(0);
      await callTool(owned, 'append', { key: `after ${key}` });
      expect(server.ledger.runs(`after ${key}`)).toBe(1);
    },
  );
});

const CHILD_NONSENSE: FaultAction[] = [
  { kind: 'broken-json' },
  { kind: 'wrong-version' },
  { kind: 'result', result: 'no object' },
  { kind: 'huge', bytes: HUGE },
];

describe('stdio', () => {
  it.each(CHILD_NONSENSE)('the answer to initialize is %j', async (fault) => {
    await using child = stdioServer({ faults: [{ ...fault, on: 'initialize', times: 'always' }] });
    await using owned = own(stdio(child), { recovery: FAST, timeouts: { connectTimeoutMs: 1_500 } });
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
    expect(error).toMatchObject({ code: 'unavailable', connection: 'files' });
    expect(child.ledger.runs()).toBe(0);
  });

  it('garbage between its messages is passed over', async () => {
    await using child = stdioServer();
    await using owned = own(stdio(child));
    await callTool(owned, 'garbage', { key: 'g' });
    await callTool(owned, 'append', { key: 'after' });
    expect([child.ledger.runs('g'), child.ledger.runs('after'), owned.handle.generation]).toEqual([1, 1, 1]);
  });

  it('a message that is too long to read is a loss: the call has an unknown outcome, the next one works', async () => {
    await using child = stdioServer();
    await using owned = own(stdio(child));
    await owned.ready();
    const { error } = await settled(callTool(owned, 'huge', { key: 'huge', bytes: HUGE }));
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { connection: 'lost' } });
    await callTool(owned, 'append', { key: 'after' });
    expect([child.ledger.runs('huge'), child.ledger.runs('after'), owned.handle.generation]).toEqual([
      1, 1, 2,
    ]);
  });

  it('a command that does not exist, and one that is no server', async () => {
    for (const [command, args] of [
      ['/nowhere/no-such-command', []],
      [process.execPath, ['-e', 'console.log("hello"); process.exit(7)']],
    ] as const) {
      await using owned = own({ kind: 'stdio', command, args }, { recovery: FAST });
      const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
      expect(error).toMatchObject({ code: 'unavailable', connection: 'files' });
      if (args.length > 0) {
        expect(error).toMatchObject({
          evidence: { process: { exitCode: 7 } },
          message: expect.stringContaining('code 7'),
        });
      }
    }
  });
});
