import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OwnedTransport } from '../transports/recipe.ts';
import { FaultControl } from './fault-control.ts';
import { type FaultCounts, readCounts } from './fault-counts.ts';
import { FaultFolder } from './fault-folder.ts';
import { poll } from './fault-poll.ts';
import {
  checkOptions,
  checkReaction,
  type FaultMethod,
  type FaultServerOptions,
  type FaultTransport,
  type Reaction,
} from './fault-reactions.ts';

const SCRIPTS: Record<FaultTransport, string> = {
  http: fileURLToPath(new URL('./server/http.mjs', import.meta.url)),
  stdio: fileURLToPath(new URL('./server/stdio.mjs', import.meta.url)),
};

const START_LIMIT_MS = 20_000;
const KILL_LIMIT_MS = 10_000;

/**
 * A real MCP server in a process of its own, over Streamable HTTP or stdio, that does wrong what it is told to and
 * counts everything. Its counts outlive its processes. It listens on 127.0.0.1 only, under a path that is secret.
 *
 * It has two tools, `append` (no annotations) and `read` (`readOnlyHint`). Each takes `{ key: string }`, and each run
 * is counted under that key.
 *
 * ```ts
 * await using server = await FaultServer.start({ transport: 'http' });
 * const files = supervisor.own('files', { transport: server.target });
 *
 * await server.when('tools/call', 'lose-answer');
 * await expect(files.callTool({ name: 'append', arguments: { key: 'a' } })).rejects.toThrow(OutcomeUnknownError);
 * expect(server.counts().executions).toEqual({ a: 1 }); // it ran, and was not sent again
 * ```
 */
export class FaultServer implements AsyncDisposable {
  readonly transport: FaultTransport;
  readonly #folder = new FaultFolder();
  readonly #control = new FaultControl();
  /** HTTP: the process that was spawned last. */
  #child: ChildProcess | undefined;
  /** HTTP: random, so that only who is given `target` finds it. */
  readonly #path = `/${randomUUID()}/mcp`;
  /** HTTP: 0 until the first process listens, then the same over restarts. */
  #port = 0;

  /**
   * Resolves when the server can be connected to. HTTP: a process listens. stdio: nothing is spawned yet, the client
   * does that.
   *
   * @throws {TypeError} (as a rejection) an option is unknown or wrong
   * @throws {Error} (as a rejection) the HTTP process did not start; with what it wrote to stderr
   */
  static async start(options: FaultServerOptions = {}): Promise<FaultServer> {
    checkOptions(options);
    const server = new FaultServer(options.transport ?? 'http');
    try {
      await server.#open();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(transport: FaultTransport) {
    this.transport = transport;
  }

  /** How a client reaches it: what `own()` takes as `transport`. Stays the same over restarts. */
  get target(): OwnedTransport {
    return this.transport === 'http'
      ? { kind: 'http', url: `http://127.0.0.1:${this.#port}${this.#path}` }
      : { kind: 'stdio', command: this.#folder.command, args: [SCRIPTS.stdio, this.#folder.path] };
  }

  /**
   * Sets what happens to the requests of one method from now on, in processes that start later too. Requests of
   * that method that are held are let go to it. Resolves when it is in force in every process that lives; for a
   * paused process that is after `resume()`. Over HTTP a request for a session that the server does not know gets
   * 404, whatever the reaction.
   *
   * @throws {TypeError} (as a rejection) an unknown method or reaction, or one that this transport does not have
   */
  async when(method: FaultMethod, reaction: Reaction): Promise<void> {
    checkReaction(this.transport, method, reaction);
    this.#control.reactions[method] = reaction;
    if (this.transport === 'stdio' && method === 'initialize') {
      if (reaction === 'forbid') this.#folder.removeCommand();
      else this.#folder.restoreCommand();
    }
    await this.#control.order('when', { method, reaction });
  }

  /**
   * SIGKILL to every server process that lives. Resolves when they are gone; over HTTP the port refuses
   * connections from then on, until `restart()`. A client may learn of it a moment later: wait for what it says.
   */
  async kill(): Promise<void> {
    const doomed = this.#control.live();
    for (const each of doomed) each.signal('SIGKILL');
    // One that has not introduced itself yet.
    this.#child?.kill('SIGKILL');
    const gone = await poll(() => (doomed.some(({ lives }) => lives) ? undefined : true), KILL_LIMIT_MS);
    if (gone === undefined) throw new Error(`FaultServer: a process outlived SIGKILL by ${KILL_LIMIT_MS} ms`);
  }

  /**
   * `kill()`, and over HTTP then a new process on the same port, which knows no session. Over stdio a client starts
   * the next process when it connects.
   */
  async restart(): Promise<void> {
    await this.kill();
    if (this.transport === 'http') await this.#startProcess();
  }

  /**
   * HTTP only: forgets all sessions and ends their streams. Requests with the id of one get 404 from then on, held
   * ones when they are let go.
   *
   * @throws {TypeError} (as a rejection) over stdio, which has no sessions
   */
  async evict(): Promise<void> {
    if (this.transport === 'stdio') {
      throw new TypeError('FaultServer: stdio has no sessions to evict; use kill()');
    }
    await this.#control.order('evict');
  }

  /** SIGSTOP to every process that lives: what is sent to it is accepted and not read. Not on Windows. */
  pause(): void {
    for (const each of this.#control.live()) each.signal('SIGSTOP');
  }

  /** SIGCONT to every process that lives. */
  resume(): void {
    for (const each of this.#control.live()) each.signal('SIGCONT');
  }

  /** What was counted so far, as a plain object of its own, so that two can be compared. */
  counts(): FaultCounts {
    const alive = new Set(this.#control.live().map(({ number }) => number));
    return readCounts(this.#folder.ledger, this.#control.introduced, alive);
  }

  /**
   * Waits until the counts are as they should be, and returns them.
   *
   * @param what what is waited for; the error says it
   * @param options.timeoutMs how long, in milliseconds. Default 10 000
   * @throws {Error} (as a rejection) it did not come true in time; with the last counts
   */
  async until(
    what: string,
    holds: (counts: FaultCounts) => boolean,
    { timeoutMs = 10_000 }: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<FaultCounts> {
    let last = this.counts();
    const found = await poll(() => {
      last = this.counts();
      return holds(last) ? last : undefined;
    }, timeoutMs);
    if (found !== undefined) return found;
    throw new Error(
      `FaultServer: ${what}: not within ${timeoutMs} ms. The last counts: ${JSON.stringify(last)}`,
    );
  }

  /** Kills the processes that live and removes its files, the counts with them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#control.stopListening();
    try {
      await this.kill();
    } finally {
      this.#control.closeSockets();
      this.#folder.remove();
    }
  }

  async #open(): Promise<void> {
    this.#folder.writeControl({ port: await this.#control.listen(), token: this.#control.token });
    if (this.transport === 'http') await this.#startProcess();
  }

  /** HTTP: spawns a process and waits until it listens. */
  async #startProcess(): Promise<void> {
    const child = this.#spawn();
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    const introduced = await poll(() => {
      if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) return false;
      return this.#control.live().find(({ pid }) => pid === child.pid);
    }, START_LIMIT_MS);
    const port = introduced
      ? await introduced.order('listen', { port: this.#port, path: this.#path })
      : undefined;
    if (typeof port !== 'number') {
      child.kill('SIGKILL');
      const stderr = readFileSync(this.#folder.stderr, 'utf8');
      throw new Error(`FaultServer: its process did not start. It wrote: ${stderr}`, { cause: failure });
    }
    this.#port = port;
  }

  #spawn(): ChildProcess {
    const stderr = openSync(this.#folder.stderr, 'w');
    // What a test runner or a debugger adds to its own Node is not meant for this one.
    const { NODE_OPTIONS: _options, ...env } = process.env;
    this.#child = spawn(process.execPath, [SCRIPTS.http, this.#folder.path], {
      env,
      stdio: ['ignore', 'ignore', stderr],
    });
    closeSync(stderr);
    this.#child.unref();
    return this.#child;
  }
}
