/** An HTTP server of this bench, in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** `http`: sessions, as of 2025. `modern`: 2026-07-28, which takes no orders. */
export type ServerScript = 'http' | 'modern';

export interface Counts {
  readonly initialize: number;
  readonly call: number;
  /** Requests for a session that it does not know. */
  readonly unknown: number;
}

export class BenchServer {
  readonly #script: ServerScript;
  #child: ChildProcess | undefined;
  #port = 0;
  #orders = 0;

  constructor(script: ServerScript = 'http') {
    this.#script = script;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/mcp`);
  }

  async start(): Promise<this> {
    const script = fileURLToPath(new URL(`./servers/${this.#script}.mjs`, import.meta.url));
    this.#child = fork(script, [String(this.#port)], { execArgv: [] });
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
