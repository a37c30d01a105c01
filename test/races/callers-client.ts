import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CountingServer } from './counting-server.ts';
import { realClient } from './real-client.ts';
import type { ScheduledTransport } from './scheduled-transport.ts';
import type { LentScript } from './script.ts';

type Method = (...args: unknown[]) => unknown;

/** A client of the caller's, and what is supplied of it. What belongs to the caller is noted if another calls it. */
export class CallersClient {
  readonly client: Client = realClient();
  readonly supplied: object;
  readonly transports: ScheduledTransport[] = [];
  readonly touched: string[] = [];
  readonly #server: CountingServer;
  readonly #onclose = () => {};
  readonly #onerror = () => {};
  #connecting: Promise<void> | undefined;
  #isCallersAct = false;

  constructor(server: CountingServer, supply: LentScript['supply']) {
    this.#server = server;
    this.client.onclose = this.#onclose;
    this.client.onerror = this.#onerror;
    const request = this.client.request.bind(this.client);
    this.supplied = supply === 'bare session' ? { request } : this.client;
  }

  /** The caller's own handlers are in their places. */
  get handlersAreAsTheyWere(): boolean {
    return this.client.onclose === this.#onclose && this.client.onerror === this.#onerror;
  }

  /** The caller connects it, unless it is connected. */
  connected(): Promise<void> {
    if (this.#connecting === undefined && this.client.transport === undefined) {
      this.#connecting = this.#connect().finally(() => {
        this.#connecting = undefined;
      });
    }
    return this.#connecting ?? Promise.resolve();
  }

  /** The caller closes it. */
  close(): void {
    this.#isCallersAct = true;
    void this.client.close();
    this.#isCallersAct = false;
  }

  async #connect(): Promise<void> {
    const { client } = this;
    const transport = this.#server.transport();
    this.transports.push(transport);
    for (const method of ['close', 'connect'] as const) Reflect.deleteProperty(client, method);
    try {
      await client.connect(transport);
    } finally {
      // Where a handshake fails, the SDK itself closes; that is over now.
      this.#note(client, ['close', 'connect']);
      this.#note(transport, ['start', 'close', 'terminateSession']);
    }
  }

  #note(target: Client | ScheduledTransport, methods: readonly string[]): void {
    const object = target as unknown as Record<string, Method | undefined>;
    for (const method of methods) {
      const original = object[method];
      if (original === undefined) continue;
      object[method] = (...args) => {
        if (!this.#isCallersAct) this.touched.push(method);
        return original.apply(target, args);
      };
    }
  }
}
