/** One page that looks on: a stream of server-sent events. */
import type { ServerResponse } from 'node:http';

/** What one that does not read may leave lying, beside its snapshot. */
const MOST_UNREAD_BYTES = 1_000_000;
/** When a page that was cut off comes back. */
const RETRY_MS = 500;

export class Viewer {
  readonly #response: ServerResponse;
  readonly #mostUnread: number;

  constructor(response: ServerResponse, snapshot: string, onLeave: () => void) {
    this.#response = response;
    // The response itself is not told when another one on its connection has not ended.
    response.req.socket.once('close', onLeave);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: ${RETRY_MS}\n\n${eventOf('snapshot', snapshot)}`);
    this.#mostUnread = response.writableLength + MOST_UNREAD_BYTES;
  }

  /** One that is too slow is cut off: it comes back by itself, for a snapshot. */
  send(event: 'changes' | 'alive', data: string): void {
    if (this.#response.writableLength > this.#mostUnread) this.leave();
    else this.#response.write(eventOf(event, data));
  }

  leave(): void {
    this.#response.destroy();
  }
}

function eventOf(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}
