/** An HTTP server in a process of its own, on a free port of the loopback interface. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Ledger } from './ledger.ts';
import { until } from './until.ts';

const running = new Set<ChildProcess>();

// Whatever ends the demo, its servers go first.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class ServerProcess {
  readonly #args: readonly string[];
  readonly #ledger: Ledger;
  #port = 0;
  #child: ChildProcess | undefined;

  constructor(args: readonly string[], ledger: Ledger) {
    this.#args = args;
    this.#ledger = ledger;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/mcp`);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The same port each time. */
  async start(): Promise<this> {
    this.#port ||= await freePort();
    const env = { ...process.env, PORT: String(this.#port), DEMO_LEDGER: this.#ledger.path };
    const child = spawn(process.execPath, this.#args, { env, stdio: 'ignore' });
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    await until(() => accepts(this.#port), `a server on port ${this.#port}`);
    return this;
  }

  /** SIGKILL: it has no time to say goodbye. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !running.has(child)) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
