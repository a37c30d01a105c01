/** One page that looks on: a stream of server-sent events. */
import type { ServerResponse } from 'node:http';

/** What one that does not read may leave lying; a snapshot with a full history is well below it. */
const MOST_UNREAD_BYTES = 2_000_000;
/** When a page that was cut off comes back. */
const RETRY_MS = 500;

export class Viewer {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse, onLeave: () => void) {
    this.#response = response;
    response.once('close', onLeave);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** One that is too slow is cut off: it comes back by itself, for a snapshot. */
  send(event: 'snapshot' | 'changes' | 'alive', data: string): void {
    if (this.#response.writableLength > MOST_UNREAD_BYTES) this.leave();
    else this.#response.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  leave(): void {
    this.#response.destroy();
  }
}
