// What the SDKs say only on `onerror`: facts/sdk-loss-table.md §2a (rows a, c, k), §2b and §2c. Expected values by hand.
import { SseError as SseErrorV2 } from '@modelcontextprotocol/client';
import { SseError as SseErrorV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { expect, it } from 'vitest';
import { hintOf } from '../../src/evidence/hints.ts';
import { fetchFailed, schemaError, ssePost, syntaxError, system, v1, v2 } from './sdk-errors.ts';

const DISCONNECTED = 'SSE stream disconnected: TypeError: terminated';
const ended = { code: undefined, message: undefined } as unknown as ConstructorParameters<
  typeof SseErrorV1
>[2];

it.each<[what: string, error: () => unknown, hint: ReturnType<typeof hintOf>]>([
  ['the GET stream will not be opened again', gaveUp('2'), 'deaf'],
  ['… after more tries', gaveUp('10'), 'deaf'],
  ['a stream was cut', () => new Error(DISCONNECTED), 'cut'],
  ['the stream of legacy SSE ended (v1)', () => new SseErrorV1(undefined, undefined, ended), 'stream-ended'],
  ['… its reconnection was refused (v1)', () => new SseErrorV1(404, 'Not Found', ended), 'stream-ended'],
  ['the stream of legacy SSE ended (v2)', () => new SseErrorV2(undefined, undefined, ended), 'stream-ended'],
  ['… its reconnection was refused (v2)', () => new SseErrorV2(404, 'Not Found', ended), 'stream-ended'],
])('%s', (_what, error, hint) => {
  expect(hintOf(error())).toBe(hint);
});

it.each<[what: string, error: () => unknown]>([
  ['a GET that was refused (v1)', () => v1.http(404)],
  ['a GET that was refused (v2)', () => v2.http(404)],
  ['a call that was refused (legacy SSE)', () => ssePost(404)],
  ['a call that found no server', () => fetchFailed(system('ECONNREFUSED', 'connect'))],
  ['stdin of a child', () => system('EPIPE', 'write')],
  ['a line of text on stdout', syntaxError],
  ['a message that is not JSON-RPC', schemaError],
  ['words around those of a hint', () => new Error('Error: Maximum reconnection attempts (2) exceeded.')],
  ['words after those of a hint', () => new Error('Maximum reconnection attempts (2) exceeded. Goodbye')],
  ['no number', () => new Error('Maximum reconnection attempts (many) exceeded.')],
  ['a server that quotes a hint', () => v1.rpc(-32603, DISCONNECTED)],
  ['a log line', () => new Error(`client: ${DISCONNECTED}`)],
  ['a plain error', () => new Error('boom')],
  ['a string', () => DISCONNECTED],
  ['nothing', () => undefined],
])('%s is no hint', (_what, error) => {
  expect(hintOf(error())).toBeUndefined();
});

function gaveUp(tries: string) {
  return () => new Error(`Maximum reconnection attempts (${tries}) exceeded.`);
}
