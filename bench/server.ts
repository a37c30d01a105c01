/** The HTTP server of this bench, in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CLIENT_INFO } from './pair.ts';

const SCRIPT = fileURLToPath(new URL('./servers/http.mjs', import.meta.url));

export interface Counts {
  readonly initialize: number;
  readonly call: number;
  /** Requests for a session that it does not know. */
  readonly unknown: number;
}

export class BenchServer {
  #child: ChildProcess | undefined;
  #port = 0;
  #orders = 0;

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/mcp`);
  }

  async start(): Promise<this> {
    this.#child = fork(SCRIPT, [String(this.#port)], { execArgv: [] });
    const [{ port }] = (await once(this.#child, 'message')) as [{ port: number }];
    this.#port = port;
    return this;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Killed for real, and started again on the same port: every session is gone. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Forgets every session, and goes on. */
  async forget(): Promise<void> {
    await this.#order('forget');
  }

  counts(): Promise<Counts> {
    return this.#order('counts') as Promise<Counts>;
  }

  async #order(order: string): Promise<unknown> {
    const child = this.#child as ChildProcess;
    const id = ++this.#orders;
    child.send({ id, order });
    for (;;) {
      const [message] = (await once(child, 'message')) as [{ id: number; result: unknown }];
      if (message.id === id) return message.result;
    }
  }
}

/** What a host writes by hand. */
export async function connectHttp(url: URL): Promise<Client> {
  const client = new Client(CLIENT_INFO);
  await client.connect(new StreamableHTTPClientTransport(url) as Transport);
  return client;
}
