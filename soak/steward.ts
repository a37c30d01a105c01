/**
 * Ours: one connection with its defaults, one that looks after itself, one that is recreated on every loss. The second
 * has a client of SDK v2, and so have all where the server speaks 2026-07-28.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Connect, createSupervisor, type OwnedTransport } from 'mcp-steward';
import {
  answerQuestions,
  CAPABILITIES,
  CLIENT_INFO,
  type HttpTarget,
  type Line,
  SAFE_TOOL,
  type Subject,
  type Target,
  type Watcher,
} from './subject.ts';

export class Steward implements Subject {
  readonly #supervisor = createSupervisor({
    clientInfo: CLIENT_INFO,
    capabilities: CAPABILITIES,
    setup: answerQuestions,
  });
  readonly #watcher: Watcher;

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
  }

  open(name: string, transport: Target): Line {
    const { kind, isModern = false } = { isModern: false, ...transport };
    const isVersion2 = isModern || (kind === 'http' && name.includes('-2#'));
    const handle = this.#supervisor.own(name, {
      ...(isVersion2
        ? { connect: connectVersion2(transport as HttpTarget) }
        : { transport: described(transport) }),
      replay: { tools: { [SAFE_TOOL]: 'safe' } },
      ...(name.includes('-2#') && { liveness: { heartbeatMs: 500 } }),
      ...(name.includes('-direct#') && { recovery: { recreate: 'eager' } }),
    });
    handle.on('transition', ({ from, to }) => this.#watcher.transition(name, from, to));
    handle.on('recreated', ({ generation }) => this.#watcher.recreated(name, generation));
    return handle;
  }

  close(): Promise<void> {
    return this.#supervisor.close();
  }
}

function described(target: Target): OwnedTransport {
  if (target.kind === 'stdio') return target;
  const { kind, url, headers } = target;
  return { kind, url, headers };
}

/** A handshake whose answer was lost is not waited for. */
const CONNECT_TIMEOUT_MS = 5_000;

function connectVersion2({ url, headers }: HttpTarget): Connect {
  return async ({ fetch, signal }) => {
    const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };
    const client = new Client(CLIENT_INFO, { capabilities, versionNegotiation: { mode: 'auto' } });
    client.setRequestHandler('roots/list', () => ({ roots: [] }));
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ok: true } }));
    client.setRequestHandler('sampling/createMessage', () => ({
      model: 'none',
      role: 'assistant',
      content: { type: 'text', text: 'This one.' },
    }));
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers } });
    signal.addEventListener('abort', () => void transport.close());
    await client.connect(transport, { timeout: CONNECT_TIMEOUT_MS });
    return client as never;
  };
}
