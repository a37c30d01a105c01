import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Fault } from './faults.ts';
import { Ledger } from './ledger.ts';
import { isAlive } from './processes.ts';
import { serverScript } from './server-script.ts';
import { until } from './until.ts';

export type HttpTransportName = 'http' | 'stateless' | 'sse' | 'modern' | 'ws';

export interface ServerOptions {
  /** `http`: Streamable HTTP with sessions (v1 SDK). `modern`: revision 2026-07-28 (v2 SDK). Default `http`. */
  transport?: HttpTransportName;
  /** 0 or nothing: a free one. */
  port?: number;
  /** Default `sse`; for `modern` `auto`, as the SDK has it. */
  answers?: 'sse' | 'json' | 'auto';
  /** Resumable streams (event ids), reconnected by the client after `retryIntervalMs` (100). */
  eventStore?: boolean;
  retryIntervalMs?: number;
  /** `http`, `sse`: refuses a second session with this status. */
  oneSession?: number;
  unknownSession?: UnknownSessionStyle;
  /** 401 without `Authorization: Bearer <this>`. */
  requireAuth?: string;
  /** `modern`: what a 2025-era client gets. Default `stateless`. */
  legacy?: 'stateless' | 'reject';
  /** tools/list comes in so many pages. */
  pages?: number;
  /** So many more tools `extra0`, `extra1`, … */
  extraTools?: number;
  /** 1: has `removable`. 2: has `added` in its place, and `changing` has another schema. */
  toolsVersion?: number;
  /** How long the server keeps an idle socket. Default 30 s. */
  keepAliveMs?: number;
  /** There from the start, handshake faults in particular. */
  faults?: Fault[];
}

export type UnknownSessionStyle =
  | '404-json'
  | '404-html'
  | '404-empty'
  | '404-32002'
  | '404-32600'
  | '400-no-valid-session'
  | '400-not-initialized'
  | '400-other'
  | '410'
  | '500'
  | '503'
  | 'inband-32001';

/** Starts a server process and waits until it listens. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = new TestServer(options);
  try {
    await server.start();
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

/** A real MCP server in a process of its own. Its port and its ledger stay the same over restarts. */
export class TestServer {
  readonly ledger = new Ledger();
  #options: ServerOptions;
  #child: ChildProcess | undefined;
  #port = 0;
  #stderr = '';
  #orders = 0;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#port = options.port ?? 0;
  }

  get port(): number {
    return this.#port;
  }

  get path(): string {
    return this.#options.transport === 'sse' ? '/sse' : '/mcp';
  }

  /** Where a client connects: `…/mcp`, for legacy SSE `…/sse`, for WebSocket `ws://…/mcp`. */
  get url(): URL {
    return new URL(
      `${this.#options.transport === 'ws' ? 'ws' : 'http'}://127.0.0.1:${this.#port}${this.path}`,
    );
  }

  get transport(): HttpTransportName {
    return this.#options.transport ?? 'http';
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the test server is not running');
    return pid;
  }

  /** All that any of its processes wrote to stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  get running(): boolean {
    return this.#child !== undefined && isAlive(this.pid);
  }

  /** Starts the process (again); the port is bound again, with a few tries. */
  async start(): Promise<void> {
    await until(() => this.#tryStart(), {
      timeoutMs: 8_000,
      everyMs: 20,
      what: `a server on port ${this.#port}`,
    });
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    this.#child = undefined;
  }

  /** SIGKILL without waiting: for a kill in the same tick as a call. */
  killNow(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Kills the process and starts another on the same port, with the same ledger: all sessions are forgotten. */
  async restart(overrides: ServerOptions = {}): Promise<void> {
    await this.kill();
    // Faults from the start belong to the start that they were given for.
    const { faults: _faults, ...options } = this.#options;
    this.#options = { ...options, ...overrides };
    await this.start();
  }

  async stop(): Promise<void> {
    await this.kill();
  }

  /** SIGSTOP: the kernel still accepts connections, nobody answers. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /**
   * Forgets one session or all. In-flight answers and GET streams end cleanly, or with `silent` stay open.
   * `modern` has no sessions: there the whole handler is closed.
   */
  async evict(session?: string, how: { silent?: boolean } = {}): Promise<void> {
    await this.#order('evict', session ?? null, how);
  }

  /** Queues faults. */
  async fault(...faults: Fault[]): Promise<void> {
    await this.#order('fault', ...faults);
  }

  async clearFaults(): Promise<void> {
    await this.#order('clearFaults');
  }

  /** Lets go what `hold` faults hold. */
  async release(): Promise<void> {
    await this.#order('release');
  }

  /** How many sessions live. */
  async sessions(): Promise<number> {
    return (await this.sessionIds()).length;
  }

  async sessionIds(): Promise<string[]> {
    return (await this.#order('sessions')) as string[];
  }

  /** Open TCP connections. */
  async sockets(): Promise<number> {
    return (await this.#order('sockets')) as number;
  }

  /** Open GET streams. */
  async streams(): Promise<number> {
    return (await this.#order('streams')) as number;
  }

  async dropStreams(how: 'eof' | 'reset' = 'eof'): Promise<void> {
    await this.#order('dropStreams', how);
  }

  /** From now on this token is asked for; nothing: none. */
  async requireAuth(token?: string): Promise<void> {
    await this.#order('auth', token ?? null);
  }

  /** How a request for an unknown session is answered from now on. */
  async unknownSession(style: UnknownSessionStyle): Promise<void> {
    await this.#order('unknownSession', style);
  }

  /** The list of tools for the next sessions (for `stateless` and `modern`: the next requests). */
  async toolsVersion(version: number): Promise<void> {
    await this.#order('toolsVersion', version);
  }

  /** `notifications/resources/updated` to all who subscribed. */
  async updated(uri: string): Promise<void> {
    await this.#order('updated', uri);
  }

  /** `notifications/tools/list_changed` to all, so many times. */
  async listChanged(times = 1): Promise<void> {
    await this.#order('listChanged', times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    this.ledger[Symbol.dispose]();
  }

  /** false: the port is still taken, try again. */
  async #tryStart(): Promise<boolean> {
    const argument = JSON.stringify({ ...this.#options, port: this.#port, ledger: this.ledger.path });
    const { NODE_OPTIONS: _options, ...env } = process.env;
    const child = fork(serverScript('http-server'), [argument], {
      execArgv: [],
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    const first = await new Promise<{ port?: number; failed?: string }>((resolve, reject) => {
      child.once('message', (message) => resolve(message as { port?: number; failed?: string }));
      child.once('error', reject);
      child.once('exit', (code) =>
        reject(new Error(`the test server exited with ${code}:\n${this.#stderr}`)),
      );
    });
    if (first.failed === 'EADDRINUSE' && this.#port !== 0) return false;
    if (first.port === undefined) throw new Error(`the test server cannot listen: ${first.failed}`);
    this.#port = first.port;
    this.#child = child;
    child.on('message', (message) => this.#answered(message as Answer));
    child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the test server is gone'));
      this.#waiting.clear();
    });
    return true;
  }

  #answered({ order, result, error }: Answer): void {
    const waiting = this.#waiting.get(order);
    this.#waiting.delete(order);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }

  #order(name: string, ...args: unknown[]): Promise<unknown> {
    const child = this.#child;
    if (!child?.connected) return Promise.reject(new Error('the test server is not running'));
    const order = ++this.#orders;
    return new Promise((resolve, reject) => {
      this.#waiting.set(order, { resolve, reject });
      child.send({ order, name, args });
    });
  }
}

interface Answer {
  order: number;
  result?: unknown;
  error?: string;
}
