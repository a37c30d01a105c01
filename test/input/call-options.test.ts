// Durations of a single call. A timer of more than 2^31 - 1 ms fires at once, and so does one of NaN ms.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, http, type Owned, own } from '../support/owned.ts';

expectNoCrashes();

let server: TestServer;
let owned: Owned;
beforeAll(async () => {
  server = await startServer();
  owned = own(http(server.url));
  await owned.ready();
});
afterAll(async () => {
  await owned[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const WRONG = [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5', {}];

it.each(['timeout', 'maxTotalTimeout'] as const)('%s: refused, and nothing is sent', async (option) => {
  for (const value of WRONG) {
    const call = owned.handle.callTool({ name: 'append', arguments: { key: option } }, undefined, {
      [option]: value,
    } as never);
    await expect(call, String(value)).rejects.toMatchObject({
      code: 'invalid-options',
      path: option,
      connection: 'files',
      message: expect.stringContaining(`${option}: expected a duration`),
    });
  }
  expect(server.ledger.count('request', ({ key }) => key === option)).toBe(0);
  expect(owned.handle.state).toBe('ready');
});

it('the longest duration is not taken for none', async () => {
  await callTool(owned, 'append', { key: 'long', holdMs: 50 }, 2 ** 31 - 1);
  expect(server.ledger.runs('long')).toBe(1);
});
