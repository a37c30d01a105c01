import { InMemoryTransport as InMemoryV2 } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Ledger } from './ledger.ts';

type Message = { method?: string; id?: unknown; params?: { name?: string; arguments?: { key?: string } } };

interface LedgerWriter {
  write(event: string, facts?: object): void;
}

interface ServerModules {
  createServer(host: object): { server: McpServer };
  openLedger(path: string): LedgerWriter;
  noteDelivered(ledger: LedgerWriter, message: Message, session: string): void;
}

/** The servers of test/servers are plain JavaScript. */
async function load(): Promise<ServerModules> {
  const [era, ledger] = await Promise.all(
    ['era-v1.mjs', 'ledger.mjs'].map((file) => import(new URL(`../servers/${file}`, import.meta.url).href)),
  );
  return { ...era, ...ledger } as ServerModules;
}

/** The test server of the other transports in this very process: an in-memory transport has no other way. */
export class MemoryServer {
  readonly ledger = new Ledger();
  readonly #modules: Promise<ServerModules> = load();
  readonly #open = new Map<string, Transport>();
  #sessions = 0;

  /** The client's end of a new session, `memory-1`, `memory-2`, … Of SDK v1, or of v2. */
  async transport(): Promise<InMemoryTransport>;
  async transport(sdk: 'v2'): Promise<InMemoryV2>;
  async transport(sdk: 'v1' | 'v2' = 'v1'): Promise<InMemoryTransport | InMemoryV2> {
    const { createServer, openLedger, noteDelivered } = await this.#modules;
    const session = `memory-${++this.#sessions}`;
    const ledger = openLedger(this.ledger.path);
    const pair = (sdk === 'v2' ? InMemoryV2 : InMemoryTransport).createLinkedPair();
    const ours = pair[1] as Transport;
    const { server } = createServer({
      ledger,
      session,
      options: {},
      toolsVersion: 1,
      evict: () => this.close(session),
    });
    this.#open.set(session, ours);
    server.server.onclose = () => this.#open.delete(session);
    await server.connect(ours);
    const deliver = ours.onmessage;
    ours.onmessage = (message, extra) => {
      const { method = null, id, params } = message as Message;
      const tool = method === 'tools/call' ? { tool: params?.name, key: params?.arguments?.key } : {};
      ledger.write('request', { method, id, session, ...tool });
      noteDelivered(ledger, message as Message, session);
      deliver?.(message, extra);
    };
    return pair[0];
  }

  /** How many sessions live. */
  get sessions(): number {
    return this.#open.size;
  }

  /** The server's end closes: one session, or all. */
  close(session?: string): void {
    for (const [id, transport] of [...this.#open]) {
      // What a hook of the client throws comes out here.
      if (session === undefined || session === id) transport.close().catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    this.ledger[Symbol.dispose]();
  }
}
