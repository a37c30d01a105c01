/** An HTTP server of the soak in a process of its own. Its port stays the same over restarts. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./servers/http.mjs', import.meta.url));

/**
 * How a server answers: JSON, a stream, a stream that can be resumed, over HTTP+SSE as of 2024, or by revision
 * 2026-07-28, which has no sessions.
 */
export type HttpKind = 'json' | 'sse' | 'resumable' | 'legacy' | 'modern';

export class ServerProcess {
  readonly #kind: HttpKind;
  readonly #journal: string;
  #child: ChildProcess | undefined;
  #port = 0;
  #orders = 0;

  constructor(kind: HttpKind, journal: string) {
    this.#kind = kind;
    this.#journal = journal;
  }

  get port(): number {
    return this.#port;
  }

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get #living(): ChildProcess {
    if (this.#child === undefined) throw new Error('The server does not run');
    return this.#child;
  }

  async start(): Promise<void> {
    const options = { kind: this.#kind, journal: this.#journal, port: this.#port };
    this.#child = fork(SCRIPT, [JSON.stringify(options)], { execArgv: [] });
    const [{ port }] = (await once(this.#child, 'message')) as [{ port: number }];
    this.#port = port;
  }

  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    this.#child = undefined;
    await gone;
  }

  async evict(which: { readonly all: boolean; readonly silently: boolean }): Promise<void> {
    await this.#order('evict', which);
  }

  /** Of those that live in it now. */
  sessions(): Promise<string[]> {
    return this.#order('sessions') as Promise<string[]>;
  }

  /** Sockets that clients hold open. */
  sockets(): Promise<number> {
    return this.#order('sockets') as Promise<number>;
  }

  async #order(name: string, args: object = {}): Promise<unknown> {
    const child = this.#living;
    const order = ++this.#orders;
    child.send({ order, name, args });
    for (;;) {
      const [answer] = (await once(child, 'message')) as [{ order: number; result: unknown }];
      if (answer.order === order) return answer.result;
    }
  }
}

export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
