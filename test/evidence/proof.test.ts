// Each `execution: none` is a proof: what is beside it, and looks the same, proves nothing.
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../machines/vocabulary.ts';
import { type Connect, createSupervisor } from '../../src/index.ts';
import { startServer } from '../support/http-server.ts';
import { settled } from '../support/owned.ts';
import { connectV2 } from '../support/raw-client.ts';
import { judge, say } from './judge.ts';
import { fetchFailed, rpcBody, system, v1 } from './sdk-errors.ts';

/** What Node throws where a name has several addresses: each was tried. */
function tried(code: string, ...errors: Error[]): Error {
  return fetchFailed(Object.assign(new AggregateError(errors), { code }));
}

describe('several addresses were tried', () => {
  it('each while connecting: nothing was sent', () => {
    const error = tried('ECONNREFUSED', system('ECONNREFUSED', 'connect'), system('ENETUNREACH', 'connect'));
    expect(say(judge(error))).toBe('suspect none unreachable');
  });

  it('one in another phase: no proof', () => {
    const error = tried('ECONNREFUSED', system('ECONNREFUSED', 'connect'), system('ECONNRESET', 'read'));
    expect(say(judge(error))).toBe('suspect unknown request-cut');
  });
});

it.each([
  ['connect', 'suspect none unreachable'],
  ['read', 'suspect unknown request-cut'],
])('node-fetch names the system call %s in its own way', (erroredSysCall, expected) => {
  const error = Object.assign(new Error('request failed'), { code: 'EHOSTUNREACH', erroredSysCall });
  expect(say(judge(error))).toBe(expected);
});

describe('behind a proxy that tries a second backend (`trust404: false`) its answer proves nothing about the first', () => {
  const sdk400 = v1.http(400, rpcBody(-32000, 'Bad Request: Server not initialized'));
  it.each([
    ['404, with a session', v1.http(404, ''), {}],
    ['404, without', v1.http(404, ''), { session: 'none' }],
    ['404, the method is not known', v1.http(404, rpcBody(-32601, 'Method not found')), {}],
    ['400 in the words of the SDK', sdk400, {}],
    ['`Session terminated`', v1.rpc(-32600, 'Session terminated'), {}],
  ] as const)('%s', (_name, error, facts) => {
    expect(judge(error, facts).execution).toBe('none');
    expect(judge(error, { ...facts, trust404: false }).execution).toBe('unknown');
  });
});

describe('SDK v2, 2026-07-28: a tool asks for input, and the call fails before its next request', () => {
  it.each([
    ['the client is closed meanwhile', undefined],
    [
      'a rule of the host says that it did not run',
      { connection: 'lost', execution: 'none', cause: 'not-connected' },
    ],
  ] as const)('%s: its first request ran', async (_name, rule) => {
    await using server = await startServer({ transport: 'modern' });
    let close = async () => {};
    const connect = async () => {
      const { client } = await connectV2(server, '2026-07-28', { elicitation: true });
      client.setRequestHandler('elicitation/create', async () => {
        await close();
        return { action: 'accept', content: { ok: true } };
      });
      close = () => client.close();
      return client;
    };
    await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
    const handle = supervisor.own('files', {
      connect: connect as unknown as Connect,
      evidence: { classify: () => rule as Evidence | undefined },
    });
    await handle.ready();
    const { error } = await settled(handle.callTool({ name: 'elicit', arguments: { key: 'x' } }));
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { execution: 'unknown' } });
    expect(server.ledger.count('call', ({ key }) => key === 'x')).toBe(1);
  });
});
