import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ConnectionStatus } from '../../src/index.ts';
import type { HostOptions } from './host-script.ts';
import { until } from './until.ts';

const SCRIPT = fileURLToPath(new URL('./host-script.ts', import.meta.url));

/** Longer than the two seconds by which timers have to be late, and the second in between them. */
const SLEEP_MS = 4_500;

export type HostStatus = ConnectionStatus & { readonly states: readonly string[] };

interface Answer {
  readonly order?: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Starts a host in a process of its own, and waits until its connection is ready and has answered a call. */
export async function startHost(options: HostOptions): Promise<SleepingHost> {
  const child = fork(SCRIPT, [JSON.stringify(options)], { execArgv: ['--import', 'tsx'] });
  const host = new SleepingHost(child);
  await once(child, 'message');
  await host.call('append', { key: 'first' });
  return host;
}

/** A host that can be put to sleep: the process stops, and the clock goes on. */
export class SleepingHost implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #orders = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: Answer) => this.#waiting.get(answer.order ?? 0)?.(answer));
  }

  /** Resolves with the text of the error, or with nothing. */
  async call(name: string, args: object, timeoutMs = 15_000): Promise<string | undefined> {
    return (await this.#order('call', name, args, timeoutMs)).error;
  }

  async status(): Promise<HostStatus> {
    return (await this.#order('status')).result as HostStatus;
  }

  async untilStatus(what: string, holds: (status: HostStatus) => boolean): Promise<HostStatus> {
    return until(
      async () => {
        const status = await this.status();
        return holds(status) ? status : undefined;
      },
      { what, everyMs: 20 },
    );
  }

  async sleep(): Promise<void> {
    this.#child.kill('SIGSTOP');
    // This is the sleep itself, and no event tells its end.
    await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
    this.#child.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #order(name: string, ...args: unknown[]): Promise<Answer> {
    const order = ++this.#orders;
    return new Promise((resolve) => {
      this.#waiting.set(order, resolve);
      this.#child.send({ order, name, args });
    });
  }
}
