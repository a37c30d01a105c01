/**
 * What many hosts write by hand: whatever fails is sent again, on a new connection. It is here so that the oracle can
 * be seen to find something.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type AskOptions,
  answerQuestions,
  CAPABILITIES,
  CLIENT_INFO,
  type Line,
  type Subject,
  type Target,
} from './subject.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export class Naive implements Subject {
  readonly #lines = new Set<NaiveLine>();

  open(_name: string, target: Target): Line {
    const line = new NaiveLine(target);
    this.#lines.add(line);
    return line;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lines].map((line) => line.close()));
  }
}

class NaiveLine implements Line {
  readonly #target: Target;
  #client: Promise<Client> | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  get state(): string {
    return this.#client === undefined ? 'lost' : 'ready';
  }

  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    schema: undefined,
    options: AskOptions,
  ): Promise<unknown> {
    return this.#ask((client) => client.callTool(params, schema, options));
  }

  readResource(params: { uri: string }, options: AskOptions): Promise<unknown> {
    return this.#ask((client) => client.readResource(params, options));
  }

  listTools(params: { cursor: string }, options: AskOptions): Promise<unknown> {
    return this.#ask((client) => client.listTools(params, options));
  }

  ping(options: AskOptions): Promise<unknown> {
    return this.#ask((client) => client.ping(options));
  }

  async reconnect(): Promise<void> {
    await this.close();
    await this.#connected();
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await (await client?.catch(() => undefined))?.close();
  }

  async #ask(send: (client: Client) => Promise<unknown>): Promise<unknown> {
    try {
      return await send(await this.#connected());
    } catch {
      await this.reconnect();
      return send(await this.#connected());
    }
  }

  #connected(): Promise<Client> {
    this.#client ??= connect(this.#target).catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }
}

async function connect(target: Target): Promise<Client> {
  const client = new Client(CLIENT_INFO, { capabilities: CAPABILITIES });
  answerQuestions(client);
  await client.connect(transportTo(target) as Transport, { timeout: CONNECT_TIMEOUT_MS });
  return client;
}

function transportTo(target: Target): unknown {
  if (target.kind === 'stdio')
    return new StdioClientTransport({ command: target.command, args: target.args });
  const options = { requestInit: { headers: target.headers } };
  if (target.kind === 'sse') return new SSEClientTransport(new URL(target.url), options);
  return new StreamableHTTPClientTransport(new URL(target.url), options);
}
