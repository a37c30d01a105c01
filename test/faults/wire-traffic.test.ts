// What the server sends during a call (requests with the call's own id, notifications) never ends that call: it is
// answered, runs once, and on its own connection. The raw clients get the same input.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connect, type ConnectContext, createSupervisor, type OwnOptions } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { type Target, transportV1, transportV2 } from '../support/raw-client.ts';

expectNoCrashes();

const SCRIPT = fileURLToPath(new URL('../servers/talkative.mjs', import.meta.url));
const TRANSPORTS = ['http-sse', 'http-json', 'sse', 'stdio'] as const;
const KINDS = ['ping', 'sampling', 'elicitation', 'roots', 'unknown', 'log', 'progress', 'notification'];

const INFO = { name: 'host', version: '1.0.0' };
const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const SAMPLE = { model: 'm', role: 'assistant', content: { type: 'text', text: 'a' } } as const;

const targets = new Map<string, Target>();
const children: ChildProcess[] = [];
beforeAll(async () => {
  for (const transport of TRANSPORTS) {
    const argument = JSON.stringify({ transport });
    if (transport === 'stdio') {
      targets.set(transport, { command: process.execPath, args: [SCRIPT, argument] });
      continue;
    }
    const child = fork(SCRIPT, [argument], { execArgv: [] });
    children.push(child);
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    targets.set(transport, new URL(transport === 'sse' ? '/sse' : '/mcp', `http://127.0.0.1:${port}`));
  }
});
afterAll(() => {
  for (const child of children) child.kill();
});

function handleV1(client: Client): void {
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLE);
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { ok: true } }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));
}

async function rawV1(target: Target, fetch?: typeof globalThis.fetch): Promise<Client> {
  const client = new Client(INFO, { capabilities });
  handleV1(client);
  await client.connect(transportV1(target, fetch ? { fetch: fetch as never } : {}));
  return client;
}

async function rawV2(target: Target, fetch?: typeof globalThis.fetch): Promise<ClientV2> {
  const client = new ClientV2(INFO, { capabilities });
  client.setRequestHandler('sampling/createMessage', () => SAMPLE);
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ok: true } }));
  client.setRequestHandler('roots/list', () => ({ roots: [] }));
  await client.connect(transportV2(target, fetch ? { fetch: fetch as never } : {}));
  return client;
}

interface Host {
  callTool(params: { name: string; arguments: object }, ...rest: never[]): Promise<unknown>;
  readonly generation?: number;
  close(): Promise<unknown>;
}

function described(target: Target): OwnOptions['transport'] {
  if ('command' in target) return { kind: 'stdio', ...target };
  const url = target as URL;
  return { kind: url.pathname === '/sse' ? 'sse' : 'http', url };
}

function supervised(options: OwnOptions | { adopt: unknown }): Host {
  const supervisor = createSupervisor({ clientInfo: INFO, capabilities, setup: handleV1 });
  const close = () => supervisor.close();
  const handle =
    'adopt' in options ? supervisor.adopt('x', options.adopt as never) : supervisor.own('x', options);
  return {
    callTool: (params) => handle.callTool(params as never),
    get generation() {
      return handle.generation;
    },
    close,
  };
}

const HOSTS: Record<string, (target: Target) => Promise<Host>> = {
  'the raw client, v1': (target) => rawV1(target) as Promise<unknown> as Promise<Host>,
  'the raw client, v2': (target) => rawV2(target) as Promise<unknown> as Promise<Host>,
  owned: async (target) => supervised({ transport: described(target) as never }),
  'owned, v1, our fetch': async (target) =>
    supervised({ connect: (({ fetch }: ConnectContext) => rawV1(target, fetch)) as Connect }),
  'owned, v2, our fetch': async (target) =>
    supervised({ connect: (({ fetch }: ConnectContext) => rawV2(target, fetch)) as unknown as Connect }),
  'owned, v2, its own fetch': async (target) =>
    supervised({ connect: (() => rawV2(target)) as unknown as Connect }),
  'adopted, v1': async (target) => supervised({ adopt: await rawV1(target) }),
  'adopted, v2': async (target) => supervised({ adopt: await rawV2(target) }),
};

let keys = 0;

describe.each(TRANSPORTS)('over %s', (transport) => {
  it.each(Object.keys(HOSTS))('%s', async (name) => {
    const host = await HOSTS[name]!(targets.get(transport)!);
    for (const kind of KINDS) {
      const key = `${++keys}`;
      const call = host.callTool({ name: 'talk', arguments: { kind, key } });
      // Another one beside it, whose id the server has used too.
      const calls = [
        call,
        host.callTool({ name: 'talk', arguments: { kind: 'none', key: `${key} beside` } }),
      ];
      for (const result of await Promise.all(calls)) {
        const [{ text }] = (result as { content: [{ text: string }] }).content;
        expect(JSON.parse(text), kind).toMatchObject({ runs: 1 });
      }
    }
    if (host.generation !== undefined) expect(host.generation).toBe(1);
    await host.close();
  });
});
