import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect } from 'vitest';
import {
  type CallerOwnedConnection,
  CallerOwnedConnectionLostError,
  createSupervisor,
  type Logger,
  type OperationKind,
  type Ownership,
  type Supervisor,
  type SuppliedClient,
  type SuppliedSession,
} from '../../src/index.ts';
import { MemoryServer } from './memory-server.ts';
import { connectV1, connectV2, type Target } from './raw-client.ts';

/** What a caller can supply. A bare session has `request()` and nothing else. */
export const SUPPLIES = ['v1 client', 'v2 client', 'v1 session', 'v2 session', 'bare session'] as const;
export type Supply = (typeof SUPPLIES)[number] | '2026 client' | '2026 session';

/** A connected client of the caller's, on which every act that belongs to its caller is noted. */
export class CallersClient {
  readonly client: Client | ClientV2;
  readonly transport: unknown;
  /** `close`, `connect`, `transport.close`, `transport.terminateSession`: none of them is ours to call. */
  readonly touched: string[] = [];
  /** What its `callTool()` and its `request()` rejected with. */
  readonly thrown: unknown[] = [];
  readonly #close: () => Promise<void>;
  #isCallersAct = false;

  /** `inMemory`: such a transport is closed by its peer, through its own `close()`. */
  constructor(client: Client | ClientV2, { inMemory = false } = {}) {
    this.client = client;
    this.transport = client.transport;
    this.#close = client.close.bind(client);
    this.#note(client, ['close', 'connect'], '');
    const ofTransport = inMemory ? ['start'] : ['close', 'start', 'terminateSession'];
    this.#note(this.transport as object, ofTransport, 'transport.');
    for (const method of ['callTool', 'request'] as const) this.#recordErrors(method);
  }

  get sessionId(): string | undefined {
    return (this.transport as { sessionId?: string }).sessionId;
  }

  /** The caller's own close; not noted. */
  close(): Promise<void> {
    this.#isCallersAct = true;
    return this.#close().finally(() => {
      this.#isCallersAct = false;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #note(target: object, methods: readonly string[], prefix: string): void {
    const object = target as Record<string, unknown>;
    for (const method of methods) {
      const original = object[method];
      if (typeof original !== 'function') continue;
      object[method] = (...args: unknown[]) => {
        if (!this.#isCallersAct) this.touched.push(prefix + method);
        return original.apply(target, args);
      };
    }
  }

  #recordErrors(method: 'callTool' | 'request'): void {
    const object = this.client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const original = object[method]!.bind(this.client);
    object[method] = async (...args) => {
      try {
        return await original(...args);
      } catch (error) {
        this.thrown.push(error);
        throw error;
      }
    };
  }
}

const INFO = { name: 'caller', version: '1.0.0' };

/** The caller connects a client: to a server's process, or in memory. */
export async function callersClient(supply: Supply, target: Target | MemoryServer): Promise<CallersClient> {
  const sdk = supply.startsWith('v2') ? 'v2' : supply.startsWith('2026') ? '2026' : 'v1';
  if (target instanceof MemoryServer) {
    const client = sdk === 'v1' ? new Client(INFO) : new ClientV2(INFO);
    // The two SDKs' transports are the same by shape only.
    const transport = sdk === 'v1' ? await target.transport() : await target.transport('v2');
    await client.connect(transport as never);
    return new CallersClient(client, { inMemory: true });
  }
  const raw =
    sdk === 'v1'
      ? await connectV1(target)
      : await connectV2(target, sdk === '2026' ? '2026-07-28' : 'legacy');
  // The hooks of the raw client are the harness's own; a caller's client starts without any.
  Reflect.deleteProperty(raw.client, 'onerror');
  Reflect.deleteProperty(raw.client, 'onclose');
  return new CallersClient(raw.client);
}

export type LentHandle = CallerOwnedConnection<SuppliedClient> | CallerOwnedConnection<SuppliedSession>;

/** Gives what the caller has to the supervisor. */
export function lend(
  supervisor: Supervisor,
  name: string,
  supply: Supply,
  { client }: CallersClient,
): LentHandle {
  if (supply === 'bare session') {
    const request = client.request.bind(client) as SuppliedSession['request'];
    return supervisor.adoptSession(name, { request });
  }
  if (supply.endsWith('session')) return supervisor.adoptSession(name, client as SuppliedSession);
  return supervisor.adopt(name, client as SuppliedClient);
}

export const ownershipOf = (supply: Supply): Ownership =>
  supply.endsWith('session') ? 'caller-session' : 'caller-client';

/** A supervisor, and every word that it says: log lines and events, in order. */
export function overheard(): { supervisor: Supervisor; said: string[]; listen(handle: LentHandle): void } {
  const said: string[] = [];
  const say = (...words: unknown[]) => void said.push(words.map((word) => JSON.stringify(word)).join(' '));
  const logger: Logger = { debug: say, info: say, warn: say, error: say };
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' }, logger });
  const listen = (handle: LentHandle) => {
    for (const event of ['transition', 'lost', 'recreated', 'ownership-failed'] as const) {
      handle.on(event, (facts) => say(event, facts));
    }
  };
  return { supervisor, said, listen };
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`it should have failed, and gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

const RAN = {
  unsent: 'was not sent.',
  unrun: 'was not run by the server.',
  unknown: 'was sent, and the server may have run it.',
};

/** The whole of what an ownership error has to say, and nothing that is untrue. */
export function expectOwnershipError(
  error: unknown,
  expected: {
    name: string;
    ownership: Ownership;
    method: string;
    kind: OperationKind;
    ran: keyof typeof RAN;
    generation?: number;
  },
): asserts error is CallerOwnedConnectionLostError {
  const { name, ownership, method, kind, ran, generation = 1 } = expected;
  expect(error).toBeInstanceOf(CallerOwnedConnectionLostError);
  expect(error).toMatchObject({
    name: 'CallerOwnedConnectionLostError',
    code: 'ownership',
    connection: name,
    ownership,
    generation,
    operation: { method, kind },
    evidence: { connection: 'lost', execution: ran === 'unknown' ? 'unknown' : 'none' },
  });
  const { message } = error as Error;
  expect(message).toContain(`"${name}"`);
  expect(message).toContain('neither reconnected nor replaced');
  expect(message).toContain(`${method} ${RAN[ran]}`);
  expect(message).toContain('replace()');
  expect(message).toContain(ownership === 'caller-session' ? 'new session' : 'new client');
  expectNothingUntrue([message]);
}

/** Nobody reconnected, recreated or replaced anything, so nobody may say so. */
export function expectNothingUntrue(said: readonly string[]): void {
  const text = said.join('\n').replaceAll('neither reconnected nor replaced', '');
  expect(text).not.toMatch(/reconnect|recreat|re-?open|re-?initiali[sz]|was replaced/i);
}
