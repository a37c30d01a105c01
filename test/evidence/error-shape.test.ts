// What is read from an error before anything is concluded: facts/sdk-loss-table.md §1 and §4, rules 0, 3 and 6. The
// handshake of an owned connection reads the shape itself, so it must be true without the rules.
import { describe, expect, it } from 'vitest';
import { shapeOf } from '../../src/evidence/error-shape.ts';
import { fetchFailed, rpcBody, ssePost, system, v1, v2 } from './sdk-errors.ts';

describe('an in-band error has no HTTP status, no body and no system code, whatever its fields look like', () => {
  const suggestive = { status: 404, text: rpcBody(-32001, 'Session not found') };
  it.each([
    ['v1', () => v1.rpc(404, 'no such file', suggestive)],
    ['v2', () => v2.rpc(404, 'no such file', suggestive)],
  ])('%s', (_sdk, make) => {
    const error = Object.assign(make(), { cause: system('ECONNREFUSED', 'connect') });
    expect(shapeOf(error)).toMatchObject({
      code: 404,
      isRpc: true,
      status: undefined,
      body: undefined,
      systemCodes: [],
    });
  });
});

it.each([
  ['v1', v1.http],
  ['v2', v2.http],
  ['legacy SSE', ssePost],
])('%s: the status of a refused POST, and the JSON-RPC error in its body', (_transport, http) => {
  expect(shapeOf(http(404, rpcBody(-32001, 'Session not found')))).toMatchObject({
    isRpc: false,
    status: 404,
    body: { code: -32001, message: 'Session not found' },
    systemCodes: [],
  });
  const wordless = JSON.stringify({ jsonrpc: '2.0', error: { code: -32001 }, id: null });
  expect(shapeOf(http(404, wordless)).body).toEqual({ code: -32001, message: '' });
});

it.each([
  ['empty', ''],
  ['text', 'Not Found'],
  ['HTML', '<h1>Not Found</h1>'],
  ['cut', '{"jsonrpc":"2.0","error":{"code":-32001'],
  ['a number', '404'],
  ['null', 'null'],
  ['a batch', `[${rpcBody(-32001, 'Session not found')}]`],
  ['no error in it', '{"jsonrpc":"2.0","result":{},"id":1}'],
  ['an error in words', '{"error":"Session not found"}'],
  ['a code in words', '{"error":{"code":"-32001","message":"Session not found"}}'],
])('a body that is no JSON-RPC error: %s', (_what, body) => {
  for (const http of [v1.http, v2.http, ssePost]) expect(shapeOf(http(404, body)).body).toBeUndefined();
});

it.each([
  [99, undefined],
  [100, 100],
  [599, 599],
  [600, undefined],
  [404.5, undefined],
  [Number.NaN, undefined],
  [-1, undefined],
  [20, undefined], // DOMException.ABORT_ERR
])('%s as a code is the status %s', (code, status) => {
  expect(shapeOf(v1.http(code)).status).toBe(status);
});

it('the system codes along the chain of causes, outermost first', () => {
  const deep = fetchFailed(Object.assign(system('ECONNRESET', 'read'), { cause: system('UND_ERR_SOCKET') }));
  expect(shapeOf(deep).systemCodes).toEqual([
    { code: 'ECONNRESET', syscall: 'read' },
    { code: 'UND_ERR_SOCKET', syscall: undefined },
  ]);
});

it.each([
  ['undefined', undefined],
  ['null', null],
  ['a string', 'ECONNREFUSED'],
  ['a number', 404],
])('%s says nothing', (_what, thrown) => {
  expect(shapeOf(thrown)).toEqual({
    name: '',
    className: '',
    message: '',
    code: undefined,
    isRpc: false,
    status: undefined,
    body: undefined,
    data: {},
    causeMessage: '',
    systemCodes: [],
  });
});
