/** The streams of all pages that are served in this process, from the server's side. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';

/** Call it at the head of a file. What it returns gives the streams in the order in which they began. */
export function watchStreams(): () => readonly ServerResponse[] {
  const streams: ServerResponse[] = [];
  const note = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url?.startsWith('/events?')) streams.push(response);
  };
  beforeAll(() => subscribe('http.server.request.start', note));
  afterAll(() => void unsubscribe('http.server.request.start', note));
  return () => streams;
}
