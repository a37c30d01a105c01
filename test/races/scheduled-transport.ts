import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { CountingServer } from './counting-server.ts';

type Sent = JSONRPCMessage & { id: number; method: string; params?: { requestId: number } };

/** A transport of the SDK on which nothing moves until the scheduler lets it. */
export class ScheduledTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Over HTTP only, as with the SDK's own. */
  sessionId?: string;
  setProtocolVersion?: () => void;
  terminateSession?: () => Promise<void>;
  readonly name: string;
  closed = false;
  /** The client has said that it is initialised. */
  initialized = false;
  /** The server did not know its session any more at the end of the handshake. */
  turnedAway = false;
  /** Pings in a row that somebody gave up waiting for, without any message in between. */
  missedPings = 0;
  /** The ids of pings that have no answer yet. */
  readonly #pings = new Set<number>();
  /** The last ping did not even reach the server. */
  #pingFailed = false;
  /** The ids of calls that have no answer yet. */
  readonly #calls = new Set<number>();
  readonly #server: CountingServer;

  constructor(name: string, server: CountingServer) {
    this.name = name;
    this.#server = server;
    if (server.kind === 'pipe') return;
    this.setProtocolVersion = () => {};
    this.terminateSession = () => server.endSession(this);
  }

  async start(): Promise<void> {
    this.closed = false;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { id, method, params } = message as Sent;
    if (method === 'ping') this.#pings.add(id);
    if (method === 'tools/call') this.#calls.add(id);
    if (method === 'notifications/cancelled') this.#cancel(params!.requestId);
    const taken = this.#server.take(this, message);
    taken.catch(() => {
      this.#calls.delete(id);
      if (this.#pings.delete(id)) this.#pingFailed = true;
    });
    return taken;
  }

  receive(message: JSONRPCMessage): void {
    const { id } = message as { id: number };
    this.#calls.delete(id);
    this.missedPings = 0;
    if (this.#pings.delete(id)) this.#pingFailed = false;
    this.onmessage?.(message);
  }

  /** Somebody waits for an answer to a call. */
  get isBusy(): boolean {
    return !this.closed && this.#calls.size > 0;
  }

  /** Somebody waits for an answer to a ping. */
  get isProbed(): boolean {
    return !this.closed && this.#pings.size > 0;
  }

  /** Nothing speaks against it, unless the server does not know its session. */
  get isWell(): boolean {
    return !this.closed && !this.#pingFailed;
  }

  /** Those over HTTP close at once and say so each time; a process takes a while, and ends once. */
  async close(): Promise<void> {
    if (this.#server.kind === 'http') {
      this.closed = true;
      this.onclose?.();
    } else if (!this.closed) {
      await this.#server.letGo(`${this.name} closes`);
      this.#server.hangUp(this);
    }
  }

  #cancel(id: number): void {
    this.#calls.delete(id);
    if (this.#pings.delete(id)) this.missedPings++;
  }
}
