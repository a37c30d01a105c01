/** One host on one route: what is asked of it, and what is seen of it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ConnectionState } from '../../machines/connection.machine.ts';
import type { CallerOwnedConnection, OwnedConnection, SuppliedClient } from '../handles.ts';
import { DURATIONS, type Embed, type Embedding, ownOptions } from './embedding.ts';
import type { FaultCounts } from './fault-counts.ts';
import type { FaultServer } from './fault-server.ts';
import { PickingClock } from './picking-clock.ts';
import type { RouteData, ServerSees } from './route.ts';

/** Everything that a route is judged by. */
export interface Seen {
  readonly entered: readonly ConnectionState[];
  /** By the number of the call or `reconnect()`. */
  readonly settled: Readonly<Record<number, string>>;
  /** What the server has counted more since the walk began. */
  readonly server: Required<ServerSees>;
}

let walks = 0;

export class RouteWalk {
  readonly server: FaultServer;
  readonly clock = new PickingClock();
  readonly #route: RouteData;
  readonly #key = `walk-${++walks}`;
  readonly #before: FaultCounts;
  readonly #entered: ConnectionState[] = [];
  readonly #settled: Record<number, string> = {};
  readonly #clients: Client[] = [];
  #embedding: Embedding | undefined;
  #asked = 0;

  constructor(route: RouteData, server: FaultServer) {
    this.#route = route;
    this.server = server;
    this.#before = server.counts();
  }

  get seen(): Seen {
    const counts = this.server.counts();
    const more = (what: Exclude<keyof ServerSees, 'executions'>) => counts[what] - this.#before[what];
    return {
      entered: [...this.#entered],
      settled: { ...this.#settled },
      server: {
        processes: more('processes'),
        initializes: more('initializes'),
        handshakes: more('handshakes'),
        pings: more('pings'),
        toolCalls: more('toolCalls'),
        executions: counts.executions[this.#key] ?? 0,
        deletes: more('deletes'),
      },
    };
  }

  /** The host makes its wrapper. */
  async begin(embed: Embed): Promise<void> {
    const { server, clock } = this;
    const own = ownOptions(this.#route, server);
    const isOwned = this.#route.ownership === 'supervisor';
    const client = isOwned ? new Client({ name: 'unused', version: '1.0.0' }) : await this.connectAsCaller();
    this.#embedding = await embed({ server, supervisor: { clock }, own, client });
    this.connection.on('transition', ({ to }) => this.#entered.push(to));
  }

  get connection(): Embedding['connection'] {
    if (this.#embedding === undefined) throw new Error('the route has not begun');
    return this.#embedding.connection;
  }

  call(tool: 'append' | 'read', timeoutMs: number = DURATIONS.requestTimeoutMs): void {
    const args = { key: this.#key };
    const own = this.#embedding?.callTool?.(tool, args, timeoutMs);
    this.#ask(
      own ?? this.connection.callTool({ name: tool, arguments: args }, undefined, { timeout: timeoutMs }),
    );
  }

  reconnect(): void {
    this.#ask((this.connection as OwnedConnection).reconnect());
  }

  /** The caller's own act. */
  async replace(): Promise<void> {
    const client = await this.connectAsCaller();
    await (this.connection as CallerOwnedConnection<SuppliedClient>).replace(client);
  }

  /** The caller connects a client that belongs to it. */
  async connectAsCaller(): Promise<Client> {
    const { target } = this.server;
    const client = new Client({ name: 'caller', version: '1.0.0' });
    const transport =
      target.kind === 'stdio'
        ? new StdioClientTransport({ command: target.command, args: [...(target.args ?? [])] })
        : new StreamableHTTPClientTransport(new URL(target.url));
    this.#clients.push(client);
    await client.connect(transport as Transport);
    return client;
  }

  /** The caller's client that was supplied last. */
  get callersClient(): Client | undefined {
    return this.#clients.at(-1);
  }

  async close(): Promise<void> {
    await this.#embedding?.close();
  }

  /** What the route opened is closed, and the server answers everything again. */
  async cleanUp(): Promise<void> {
    for (const method of ['initialize', 'ping', 'tools/call'] as const)
      await this.server.when(method, 'answer');
    await this.close();
    for (const client of this.#clients) await client.close();
  }

  #ask(answer: Promise<unknown>): void {
    const number = ++this.#asked;
    answer.then(
      () => {
        this.#settled[number] = 'an answer';
      },
      (error: unknown) => {
        this.#settled[number] = nameOf(error);
      },
    );
  }
}

const REQUEST_TIMEOUT = -32001;

function nameOf(error: unknown): string {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  return code === REQUEST_TIMEOUT ? 'the timeout of the SDK' : String(name);
}
