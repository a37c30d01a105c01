/** The control socket of a fault server: its processes introduce themselves here and are given orders. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { ServerProcess } from './fault-process.ts';
import type { FaultMethod, Reaction } from './fault-reactions.ts';

/** An introduction is one short line; who sends more without a line end is a stranger. */
const INTRODUCTION_MAX_CHARS = 1_000;

export class FaultControl {
  readonly token = randomBytes(32).toString('hex');
  /** What is in force for the processes that live, and what the next ones begin with. */
  readonly reactions: Partial<Record<FaultMethod, Reaction>> = {};
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #sockets = new Set<Socket>();
  readonly #processes = new Map<Socket, ServerProcess>();
  #introduced = 0;

  /** Resolves with the port. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#server.unref();
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many processes have introduced themselves so far. */
  get introduced(): number {
    return this.#introduced;
  }

  live(): ServerProcess[] {
    return [...this.#processes.values()].filter(({ lives }) => lives);
  }

  /** Resolves when every process that lives has carried it out. */
  async order(name: string, argument?: unknown): Promise<void> {
    await Promise.all(this.live().map((each) => each.order(name, argument)));
  }

  /** From now on nobody can introduce himself. */
  stopListening(): void {
    this.#server.close();
  }

  /** A process that lives ends by itself when its socket closes. */
  closeSockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.unref();
    socket.on('error', () => {}); // `close` follows
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#processes.delete(socket);
    });
    let unread = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (unread + chunk).split('\n');
      unread = lines.pop() ?? '';
      for (const line of lines) this.#read(socket, line);
      if (unread.length > INTRODUCTION_MAX_CHARS && !this.#processes.has(socket)) socket.destroy();
    });
  }

  #read(socket: Socket, line: string): void {
    const known = this.#processes.get(socket);
    if (known !== undefined) known.answered(line);
    else if (!socket.destroyed) this.#introduce(socket, line);
  }

  #introduce(socket: Socket, line: string): void {
    const pid = this.#introducedPid(line);
    if (pid === undefined) {
      socket.destroy();
      return;
    }
    const number = ++this.#introduced;
    this.#processes.set(socket, new ServerProcess(number, pid, socket));
    socket.write(`${JSON.stringify({ number, reactions: this.reactions })}\n`);
  }

  /** Undefined for a stranger. */
  #introducedPid(line: string): number | undefined {
    try {
      const { token, pid } = JSON.parse(line);
      return token === this.token && Number.isInteger(pid) && pid > 0 ? pid : undefined;
    } catch {
      return undefined;
    }
  }
}
