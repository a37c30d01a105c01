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
import { UNWRITTEN } from '../evidence/stdio.ts';
import { passedSecrets, redacted } from './passed-secrets.ts';
import { adoptTree, endTree } from './process-tree.ts';

/** After the leader's exit, what it had already written is still read. */
const LAST_WORDS_MS = 100;

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

  readonly #server: StdioDescription;
  readonly #graceMs: number;
  readonly #secrets: readonly string[];
  readonly #longestSecret: number;
  readonly #stderrKept: number;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcess | undefined;
  #stderr = '';
  #closed = false;
  #ending: Promise<void> | undefined;

  /** `closeLimitMs`: within it the whole tree is asked (stdin ends), told (SIGTERM) and killed. */
  constructor(server: StdioDescription, closeLimitMs: number) {
    this.#server = server;
    this.#graceMs = closeLimitMs / 3;
    this.#secrets = passedSecrets(server);
    this.#longestSecret = Math.max(0, ...this.#secrets.map(({ length }) => length));
    this.#stderrKept = STDERR_TAIL_CHARS + this.#longestSecret;
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
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout?.on('error', (error) => this.onerror?.(error));
    child.stdout?.on('end', () => this.#closeSoon());
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-this.#stderrKept);
    });
    // A failed write is reported by its own callback; without a listener it would be an uncaught exception.
    child.stdin?.on('error', () => {});
    child.on('exit', () => this.#closeSoon());
    child.on('close', () => this.#close());
    return new Promise((resolve, reject) => {
      child.on('spawn', () => {
        adoptTree(child.pid as number);
        resolve();
      });
      child.on('error', (error) => {
        reject(error);
        this.#close();
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const stdin = this.#child?.stdin;
      if (this.#closed || !stdin) throw new Error('Not connected');
      stdin.write(serializeMessage(message), (error) => {
        if (!error) return resolve();
        const unwritten = new Error('The message was not written to the server', { cause: error });
        this.#onceExited(() => reject(Object.assign(unwritten, { code: UNWRITTEN })));
      });
    });
  }

  /** Resolves when the whole process tree is gone, or has been killed. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child !== undefined) {
      child.stdin?.end();
      await endTree(child, this.#graceMs);
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
    this.#close();
  }

  /** A broken pipe is mostly seen a moment before the exit that broke it, and with it the exit code. */
  #onceExited(tell: () => void): void {
    const child = this.#child;
    const hasExited = child === undefined || child.exitCode !== null || child.signalCode !== null;
    const timer = setTimeout(tell, hasExited ? 0 : LAST_WORDS_MS / 2);
    child?.once('exit', () => {
      clearTimeout(timer);
      tell();
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // More than the SDK's limit without a line end: nothing after it can be read.
      this.onerror?.(error as Error);
      this.#close();
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

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#buffer.clear();
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
