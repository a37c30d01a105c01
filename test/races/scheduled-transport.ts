import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { CountingServer } from './counting-server.ts';

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
  /** The ids of pings that have no answer yet. */
  readonly #pings = new Set<number>();
  /** Nobody waits for the answer of the last one any more. */
  #missedPing = false;
  readonly #server: CountingServer;

  constructor(name: string, server: CountingServer) {
    this.name = name;
    this.#server = server;
    if (server.kind === 'pipe') return;
    this.setProtocolVersion = () => {};
    this.terminateSession = () => server.endSession(this);
  }

  async start(): Promise<void> {}

  send(message: JSONRPCMessage): Promise<void> {
    const { id, method, params } = message as {
      id?: number;
      method?: string;
      params?: { requestId: number };
    };
    if (method === 'ping') this.#pings.add(id!);
    if (method === 'notifications/cancelled') this.#missedPing ||= this.#pings.delete(params!.requestId);
    return this.#server.take(this, message);
  }

  receive(message: JSONRPCMessage): void {
    if (this.#pings.has((message as { id: number }).id)) {
      this.#pings.clear();
      this.#missedPing = false;
    }
    this.onmessage?.(message);
  }

  /** Nobody can have a reason to think otherwise, unless the server does not know its session. */
  get isWell(): boolean {
    return !this.closed && this.#pings.size === 0 && !this.#missedPing;
  }

  /** Those over HTTP close at once and say so each time; a process takes a while, and ends once. */
  async close(): Promise<void> {
    if (this.#server.kind === 'pipe') {
      if (this.closed) return;
      await this.#server.letGo(`${this.name} closes`);
      if (this.closed) return;
      this.#server.hangUp(this);
      return;
    }
    this.closed = true;
    this.onclose?.();
  }
}
