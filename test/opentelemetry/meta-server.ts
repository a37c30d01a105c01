/** A real MCP server over HTTP that notes the parameters of every request as they arrived. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export interface Arrived {
  readonly method: string;
  readonly params:
    | { readonly _meta?: Record<string, unknown>; readonly [field: string]: unknown }
    | undefined;
}

export class MetaServer implements AsyncDisposable {
  readonly #http: HttpServer = createServer((request, response) => void this.#take(request, response));
  readonly #sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly #arrived: Arrived[] = [];

  static async start(): Promise<MetaServer> {
    const server = new MetaServer();
    server.#http.listen(0, '127.0.0.1');
    await once(server.#http, 'listening');
    return server;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`);
  }

  /** Requests with this method, in order. */
  arrived(method: string): Arrived[] {
    return this.#arrived.filter((each) => each.method === method);
  }

  /** All sessions are forgotten: 404 from now on. */
  evict(): void {
    this.#sessions.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
    if (body !== undefined) this.#arrived.push(body as Arrived);
    const id = request.headers['mcp-session-id'] as string | undefined;
    const transport = id === undefined ? await this.#open() : this.#sessions.get(id);
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response, body);
  }

  async #open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    });
    const server = new Server(
      { name: 'meta', version: '1.0.0' },
      { capabilities: { tools: {}, logging: {} } },
    );
    server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
    await server.connect(transport as never);
    return transport;
  }
}
