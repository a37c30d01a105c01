/** A host with many transitions a second, and how a page that looks on keeps up. Also for the bench. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Page } from 'playwright-core';
import type { CallerOwnedConnection, Supervisor } from '../../src/index.ts';

/** Each replacement is two transitions, `connecting.checking` and `ready.steady`, and costs the host no dial. */
const TRANSITIONS = 2;
const TICK_MS = 10;

export class Storm implements AsyncDisposable {
  readonly #connections: readonly CallerOwnedConnection<Client>[];
  readonly #clients: readonly Client[];
  #taken = 0;

  /** Adds connections to a supervisor, each with a real client and server in memory. */
  static async over(supervisor: Supervisor, connections: number): Promise<Storm> {
    const clients = await Promise.all(Array.from({ length: connections }, connect));
    return new Storm(
      clients.map((client, n) => supervisor.adopt(`storm-${n + 1}`, client)),
      clients,
    );
  }

  private constructor(connections: readonly CallerOwnedConnection<Client>[], clients: readonly Client[]) {
    this.#connections = connections;
    this.#clients = clients;
  }

  /** Resolves with the transitions that there were, when the time is over. */
  async blow(options: { readonly perSecond: number; readonly seconds: number }): Promise<number> {
    const { perSecond, seconds } = options;
    const began = performance.now();
    const before = this.#taken;
    for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - began) / 1_000) {
      const due = Math.floor((elapsed * perSecond) / TRANSITIONS);
      while ((this.#taken - before) / TRANSITIONS < due) await this.#replaceNext();
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    return this.#taken - before;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #replaceNext(): Promise<void> {
    const index = (this.#taken / TRANSITIONS) % this.#connections.length;
    await this.#connections[index]?.replace(this.#clients[index] as Client);
    this.#taken += TRANSITIONS;
  }
}

async function connect(): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await new McpServer({ name: 'storm', version: '1.0.0' }).connect(far);
  const client = new Client({ name: 'storm', version: '1.0.0' });
  await client.connect(near);
  return client;
}

export interface Smoothness {
  /** Of the page's own work, in milliseconds: the longest piece that nothing else could come between. */
  readonly longestTask: number;
  /** The longest time between two frames, in milliseconds. */
  readonly longestFrame: number;
  readonly frames: number;
  /** Elements in the page at the end. */
  readonly elements: number;
}

/** As text, because what compiles these files adds to functions what the page does not have. */
const WATCH = `{
  const seen = { longestTask: 0, longestFrame: 0, frames: 0 };
  globalThis.smoothness = seen;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longestTask = Math.max(seen.longestTask, duration);
  }).observe({ type: 'longtask' });
  let last = performance.now();
  const frame = (now) => {
    seen.longestFrame = Math.max(seen.longestFrame, now - last);
    seen.frames += 1;
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}`;

/** Begins to watch; what it returns says how it went so far. */
export async function watchSmoothness(page: Page): Promise<() => Promise<Smoothness>> {
  await page.evaluate(WATCH);
  return () => page.evaluate("({ ...smoothness, elements: document.querySelectorAll('*').length })");
}
