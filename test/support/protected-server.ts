/** A real MCP server that takes the tokens of an authorization server, and counts what it is asked. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { AuthorizationServer } from './authorization-server.ts';

export interface ProtectedServer extends AsyncDisposable {
  readonly url: URL;
  /** Of the HTTP+SSE transport. */
  readonly sseUrl: URL;
  /** Another endpoint of the same resource. */
  readonly otherUrl: URL;
  readonly seen: {
    /** Requests to the endpoint, by method and JSON-RPC method, that were let in. */
    readonly admitted: string[];
    /** And those that were refused. */
    readonly refused: string[];
    readonly sessions: Set<string>;
    /** Names of the tools that were run. */
    readonly ran: string[];
  };
  /** All tokens that were good until now are refused from now on. */
  expire(): void;
  /** What `tools/call` of a tool needs. */
  readonly scopeOfTool: Map<string, string>;
  /** Of every request. */
  scope: string | undefined;
  /** Before everything else. Returns true where it has answered. */
  intercept: ((req: IncomingMessage, res: ServerResponse, body: string) => boolean) | undefined;
}

const ENDPOINTS = ['/mcp', '/sse', '/messages'];

async function bodyOf(req: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of req.setEncoding('utf8')) body += chunk;
  return body;
}

export async function protectedServer(authorization: AuthorizationServer): Promise<ProtectedServer> {
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = new URL(`${origin}/mcp`);
  const metadata = '/.well-known/oauth-protected-resource';
  const legacy = new Map<string, SSEServerTransport>();
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const expired = new Set<string>();
  const met = new Set<string>();
  const seen: ProtectedServer['seen'] = { admitted: [], refused: [], sessions: new Set(), ran: [] };
  const server: ProtectedServer = {
    url,
    sseUrl: new URL('/sse', origin),
    otherUrl: new URL('/other/mcp', origin),
    seen,
    expire() {
      for (const token of met) expired.add(token);
    },
    scopeOfTool: new Map(),
    scope: undefined,
    intercept: undefined,
    async [Symbol.asyncDispose]() {
      for (const transport of transports.values()) await transport.close();
      http.closeAllConnections();
      http.close();
    },
  };

  function challenge(res: ServerResponse, status: 401 | 403, error: string, scope: string | undefined): void {
    const wanted = scope === undefined ? '' : `, scope="${scope}"`;
    const value = `Bearer error="${error}", resource_metadata="${origin}${metadata}"${wanted}`;
    res.writeHead(status, { 'www-authenticate': value }).end();
  }

  async function serve(transport: Transport): Promise<void> {
    const mcp = new McpServer({ name: 'protected', version: '1.0.0' });
    for (const name of ['read', 'write']) {
      mcp.registerTool(name, {}, () => {
        seen.ran.push(name);
        return { content: [{ type: 'text', text: name }] };
      });
    }
    await mcp.connect(transport);
  }

  async function open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        transports.set(id, transport);
        seen.sessions.add(id);
      },
      onsessionclosed: (id) => {
        transports.delete(id);
        seen.sessions.delete(id);
      },
    });
    await serve(transport as Transport);
    return transport;
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    if (server.intercept?.(req, res, body)) return;
    if (req.url === metadata) {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ resource: `${origin}/`, authorization_servers: [authorization.issuer] }));
      return;
    }
    const { pathname, searchParams } = new URL(req.url as string, origin);
    if (!ENDPOINTS.some((endpoint) => pathname.endsWith(endpoint))) return void res.writeHead(404).end();
    const message = body === '' ? undefined : JSON.parse(body);
    const what = message?.method ?? (req.method as string);
    const token = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const scopes = expired.has(token) ? undefined : await authorization.scopesOf(token);
    const needed = server.scopeOfTool.get(message?.params?.name) ?? server.scope;
    if (scopes === undefined) {
      seen.refused.push(what);
      return challenge(res, 401, 'invalid_token', server.scope);
    }
    met.add(token);
    if (needed !== undefined && !scopes.includes(needed)) {
      seen.refused.push(what);
      return challenge(res, 403, 'insufficient_scope', needed);
    }
    seen.admitted.push(what);
    if (pathname === '/messages') {
      return legacy.get(searchParams.get('sessionId') as string)?.handlePostMessage(req, res, message);
    }
    if (pathname === '/sse') {
      const stream = new SSEServerTransport('/messages', res);
      legacy.set(stream.sessionId, stream);
      seen.sessions.add(stream.sessionId);
      res.on('close', () => seen.sessions.delete(stream.sessionId));
      return serve(stream);
    }
    const id = req.headers['mcp-session-id'] as string | undefined;
    const transport = id === undefined ? await open() : transports.get(id);
    if (transport === undefined) res.writeHead(404).end();
    else await transport.handleRequest(req, res, message);
  }

  http.on('request', (req, res) => void handle(req, res).catch((error) => res.destroy(error)));
  return server;
}
