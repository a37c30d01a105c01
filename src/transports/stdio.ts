/**
 * The stdio transport of owned connections. The SDK's own cannot end a server's whole process tree, hides a
 * failed write, waits for ever when a grandchild holds the pipes of a dead leader, and keeps neither exit code
 * nor stderr. Loaded on demand: it is the one part that needs Node.
 */
import type { ChildProcess } from 'node:child_process';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import spawn from 'cross-spawn';
import type { ProcessEnd } from '../evidence/failure.ts';
import { withinLimit } from '../within-limit.ts';
import { passedSecrets, redacted } from './passed-secrets.ts';
import { type Ending, ProcessTree } from './process-tree.ts';
import { StdinQueue } from './stdin-queue.ts';

/** After the leader's exit, what it had already written is still read. */
const LAST_WORDS_MS = 100;

/** A broken pipe is mostly seen a moment before the exit that broke it, and with it the exit code. */
const EXIT_WAIT_MS = 50;

const STDERR_TAIL_CHARS = 4_096;

export interface StdioDescription {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /**
   * Values that are taken out of what is kept of its stderr, wherever the server had them from. Those of `env`, and
   * what looks like a secret in `args`, are taken out anyway.
   */
  readonly secrets?: readonly string[] | undefined;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  /** With `pid`, by which SDK v2 knows a process: its probe may end one, or be passed over in silence. */
  readonly stderr = null;
  readonly #server: StdioDescription;
  readonly #closeLimitMs: number;
  readonly #secrets: readonly string[];
  readonly #longestSecret: number;
  readonly #stderrKept: number;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcess | undefined;
  #tree: ProcessTree | undefined;
  #stdin: StdinQueue | undefined;
  #stderr = '';
  #closed = false;
  #ending: Promise<readonly number[]> | undefined;

  /** `closeLimitMs`: within it the whole tree is asked (stdin ends), told (SIGTERM) and killed. */
  constructor(server: StdioDescription, closeLimitMs: number) {
    this.#server = server;
    this.#closeLimitMs = closeLimitMs;
    this.#secrets = passedSecrets(server);
    this.#longestSecret = Math.max(0, ...this.#secrets.map(({ length }) => length));
    this.#stderrKept = STDERR_TAIL_CHARS + this.#longestSecret;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How the child ended so far. */
  get processEnd(): ProcessEnd | undefined {
    if (this.#child?.pid === undefined) return undefined;
    return {
      exitCode: this.#child.exitCode,
      signal: this.#child.signalCode,
      stderr: this.#redactedTail(),
    };
  }

  start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#server;
    const child = spawn(command, [...args], {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      detached: globalThis.process.platform !== 'win32',
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()));
    // Node has made no pipes if it had no descriptor left for them.
    if (child.stdin) {
      this.#stdin = new StdinQueue(child.stdin, () => withinLimit(() => exited, EXIT_WAIT_MS));
    }
    if (child.pid !== undefined) this.#tree = new ProcessTree(child, child.pid);
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout?.on('error', (error) => this.onerror?.(error));
    child.stdout?.on('end', () => this.#closeSoon());
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-this.#stderrKept);
    });
    child.on('exit', () => this.#closeSoon());
    child.on('close', () => this.#close());
    return new Promise((resolve, reject) => {
      child.on('spawn', resolve);
      child.on('error', (error) => {
        reject(error);
        this.#close();
      });
    });
  }

  /** Rejects with `code` `UNWRITTEN` or `WRITE_CUT` when the message did not reach the child's stdin in whole. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed || this.#stdin === undefined) throw new Error('Not connected');
    return this.#stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    await this.end('ask');
  }

  /**
   * Ends the whole process tree: `ask` ends stdin after what waits to be written, then tells (SIGTERM), then kills;
   * `kill` does that at once, also while it is being asked. Resolves with the pids that still run after `limitMs`
   * (the whole of `closeLimitMs` by default); another call joins, or tries to kill these again. Never rejects.
   */
  end(how: Ending, limitMs = this.#closeLimitMs): Promise<readonly number[]> {
    if (how === 'kill' || this.#ending === undefined) this.#ending = this.#end(how, limitMs);
    return this.#ending;
  }

  async #end(how: Ending, limitMs: number): Promise<readonly number[]> {
    if (how === 'ask') this.#stdin?.end();
    else void this.#stdin?.stop();
    const running = (await this.#tree?.end(how, limitMs)) ?? [];
    for (const pipe of this.#child?.stdio ?? []) pipe?.destroy();
    await this.#close();
    if (running.length > 0) this.#ending = undefined;
    return running;
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // More than the SDK's limit without a line end: nothing after it can be read.
      this.onerror?.(error as Error);
      void this.#close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    }
  }

  /** The leader is gone or its stdout is, but a grandchild may hold the pipe open: `close` may never come. */
  #closeSoon(): void {
    setTimeout(() => this.#close(), LAST_WORDS_MS);
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#buffer.clear();
    // Whose message was not written hears that, and not that the connection closed: it would prove less.
    await this.#stdin?.stop();
    this.onclose?.();
  }

  /** A server may print what it was given; that must not travel in an error. */
  #redactedTail(): string {
    const tail = redacted(this.#stderr, this.#secrets);
    // What was cut may begin in the middle of a secret, which is not recognised then.
    const whole = this.#stderr.length < this.#stderrKept ? tail : tail.slice(this.#longestSecret);
    return whole.slice(-STDERR_TAIL_CHARS);
  }
}
