/**
 * The messages on their way to a child's stdin, written one at a time. Node hands everything that waits in a stream
 * to one `writev`; when that fails it fails for every message in it, those included that the child has read and run.
 */
import type { Writable } from 'node:stream';
import { UNWRITTEN, WRITE_CUT } from '../evidence/stdio.ts';

interface Line {
  readonly text: string;
  resolve(): void;
  reject(error: Error): void;
}

export class StdinQueue {
  readonly #stdin: Writable;
  readonly #beforeRejecting: () => Promise<void>;
  /** In the order of their arrival; a `Set` gives up its first without moving the others. */
  readonly #waiting = new Set<Line>();
  #isWriting = false;
  #isEnding = false;
  #rejections: Promise<unknown> = Promise.resolve();

  /** `beforeRejecting`: what a rejected sender waits for, so that it finds the child's exit code. */
  constructor(stdin: Writable, beforeRejecting: () => Promise<void>) {
    this.#stdin = stdin;
    this.#beforeRejecting = beforeRejecting;
    // A failed write is told to its sender; without a listener it would be an uncaught exception too.
    stdin.on('error', () => {});
  }

  /**
   * Resolves when all of it is in the pipe. Rejects with `code` `UNWRITTEN` if the child cannot have read a byte of
   * it, and with `WRITE_CUT` if it may have.
   */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const line = { text, resolve, reject };
      if (this.#isEnding) {
        this.#reject([line], UNWRITTEN);
        return;
      }
      this.#waiting.add(line);
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  /** Ends stdin after what waits; takes nothing more. */
  end(): void {
    this.#isEnding = true;
    if (!this.#isWriting) this.#stdin.end();
  }

  /** Writes nothing more. Resolves when everyone whose message was not written has heard so. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    this.#rejectWaiting();
    await this.#rejections;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (const line of this.#waiting) {
      this.#waiting.delete(line);
      const failure = await this.#writeOne(line.text);
      if (failure === undefined) {
        line.resolve();
      } else {
        this.#reject([line], failure.code, failure.cause);
        this.#rejectWaiting(failure.cause);
      }
    }
    this.#isWriting = false;
    if (this.#isEnding) this.#stdin.end();
  }

  #writeOne(text: string): Promise<{ code: string; cause?: Error } | undefined> {
    const stdin = this.#stdin;
    if (!stdin.writable) return Promise.resolve({ code: UNWRITTEN });
    return new Promise((resolve) => {
      let code = WRITE_CUT;
      stdin.write(text, (cause) => resolve(cause ? { code, cause } : undefined));
      // The first try is made at once, and one that fails has put nothing into the pipe.
      if (stdin.errored) code = UNWRITTEN;
    });
  }

  #rejectWaiting(cause?: Error): void {
    if (this.#waiting.size === 0) return;
    this.#reject([...this.#waiting], UNWRITTEN, cause);
    this.#waiting.clear();
  }

  #reject(lines: readonly Line[], code: string, cause?: Error): void {
    const told = this.#beforeRejecting().then(async () => {
      for (const line of lines) {
        const error = new Error(MESSAGES[code], { cause });
        line.reject(Object.assign(error, { code }));
      }
      // The sender has heard it before whoever waits for this says that the connection is closed.
      await new Promise((resolve) => setImmediate(resolve));
    });
    this.#rejections = Promise.all([this.#rejections, told]);
  }
}

const MESSAGES: Readonly<Record<string, string>> = {
  [UNWRITTEN]: 'The message was not written to the server',
  [WRITE_CUT]: 'The write of the message to the server was cut off',
};
