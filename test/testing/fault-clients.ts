import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { FaultTransport } from '../../src/testing/fault-reactions.ts';
import type { FaultServer } from '../../src/testing/fault-server.ts';
import { descendants } from '../support/processes.ts';
import { connectV1, type RawV1 } from '../support/raw-client.ts';

export const BOTH: FaultTransport[] = ['http', 'stdio'];

/** What a client of the SDK gets for what is pending when its stdio process ends, or when it is closed. */
export const CLOSED = { code: -32000, message: 'MCP error -32000: Connection closed' };

export const addressOf = ({ target }: FaultServer) =>
  target.kind === 'stdio' ? { command: target.command, args: [...(target.args ?? [])] } : new URL(target.url);

export const connect = (server: FaultServer): Promise<RawV1> =>
  connectV1(addressOf(server), { timeoutMs: 15_000 });

export const call = (
  { client }: RawV1,
  name: 'append' | 'read',
  key: string,
  options: { signal?: AbortSignal } = {},
) => client.callTool({ name, arguments: { key } }, undefined, options);

export async function failure(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: Error) => error,
  );
  if (outcome === undefined) throw new Error('it should have failed');
  return outcome;
}

const commandLine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

/** The temporary folder that a server process was started with. */
export const folderOf = (pid: number) => commandLine(pid)[2] ?? '';

/** The server processes below this one; a test file has one fault server at a time. */
export const serverProcesses = () =>
  descendants(process.pid).filter((pid) => commandLine(pid)[1]?.includes('/testing/server/'));

/** A POST of its own connection, without the client's pool: resolves with its answer's head. */
export function post(server: FaultServer, message: object | string, headers = {}) {
  const url = server.target.kind === 'http' ? server.target.url : '';
  const request = httpRequest(url, {
    method: 'POST',
    agent: false,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', (response) => resolve(response.resume()));
    request.once('error', reject);
  });
  request.end(typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));
  return { request, answer };
}
