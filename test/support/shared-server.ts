/** One server for all tests of a file, with a clean ledger and no faults at the start of each. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ServerOptions, startServer, type TestServer } from './http-server.ts';

/** Call it at the head of a file or of a `describe`; the server is there when a test runs. */
export function sharedServer(options: ServerOptions = {}): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer(options);
  });
  beforeEach(async () => {
    await server?.clearFaults();
    await server?.unknownSession('404-json');
    server?.ledger.clear();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === undefined) throw new Error('the server is there when a test runs, not before');
    return server;
  };
}
