import { expect } from 'vitest';
import {
  type Connect,
  type ConnectionState,
  createSupervisor,
  type OwnedConnection,
  type OwnOptions,
  type SupervisorOptions,
} from '../../src/index.ts';
import type { StdioServer } from './stdio-server.ts';
import { until } from './until.ts';

type OwnedTransport = NonNullable<OwnOptions['transport']>;

export interface OwnedSettings
  extends Pick<OwnOptions, 'recovery' | 'timeouts' | 'liveness' | 'replay' | 'evidence' | 'lazy'> {
  logger?: SupervisorOptions['logger'];
  setup?: SupervisorOptions['setup'];
}

export interface Owned {
  readonly handle: OwnedConnection;
  /** Every state that it entered since it was made, and why. */
  readonly transitions: { to: ConnectionState; cause: string | undefined }[];
  readonly states: () => ConnectionState[];
  ready(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What an owned connection is made from. */
export type OwnedRecipe = OwnedTransport | Connect;

/** One owned connection in a supervisor of its own, with durations for tests. */
export function own(recipe: OwnedRecipe, settings: OwnedSettings = {}): Owned {
  const { logger, setup, recovery, timeouts, liveness, ...rest } = settings;
  const supervisor = createSupervisor({ clientInfo: { name: 'test-host', version: '1.0.0' }, logger, setup });
  const handle = supervisor.own('files', {
    ...(typeof recipe === 'function' ? { connect: recipe } : { transport: recipe }),
    recovery: { initialBackoffMs: 10, maxBackoffMs: 50, coolDownMs: 50, ...recovery },
    timeouts: { connectTimeoutMs: 15_000, drainTimeoutMs: 1_000, closeTimeoutMs: 1_000, ...timeouts },
    liveness: { probeTimeoutMs: 1_000, ...liveness },
    ...rest,
  });
  const transitions: Owned['transitions'] = [];
  handle.on('transition', ({ to, cause }) => transitions.push({ to, cause }));
  return {
    handle,
    transitions,
    states: () => transitions.map(({ to }) => to),
    ready: async () => {
      await until(() => handle.state === 'ready', { what: 'the first handshake' });
    },
    [Symbol.asyncDispose]: () => supervisor.close(),
  };
}

export const http = (url: URL): OwnedTransport => ({ kind: 'http', url });

export const sse = (url: URL): OwnedTransport => ({ kind: 'sse', url });

export const stdio = ({ command, args }: StdioServer, env?: Record<string, string>): OwnedTransport => ({
  kind: 'stdio',
  command,
  args,
  env,
});

export interface Settled {
  /** What it rejected with; undefined if it resolved. */
  readonly error: unknown;
  readonly result: unknown;
  /** How long it took, and when that was. */
  readonly ms: number;
  readonly at: number;
}

/** Never rejects. */
export async function settled(call: Promise<unknown>): Promise<Settled> {
  const begun = performance.now();
  const end = () => ({ ms: performance.now() - begun, at: Date.now() });
  try {
    return { result: await call, error: undefined, ...end() };
  } catch (error) {
    return { error, result: undefined, ...end() };
  }
}

/** How a call must have ended. */
export type Ending =
  | 'answered'
  /** `OutcomeUnknownError`, because of one of these. */
  | { unknown: string | readonly string[] }
  /** The SDK's own error, with these fields. */
  | { passes: object }
  /** `ConnectionUnavailableError`: it did not run. */
  | { unavailable: string };

export function expectEnding({ error, result }: Settled, ending: Ending): void {
  if (ending === 'answered') {
    expect(error).toBeUndefined();
    expect(result).toBeDefined();
  } else if ('unknown' in ending) {
    expect(error).toMatchObject({
      name: 'OutcomeUnknownError',
      code: 'outcome-unknown',
      connection: 'files',
      ownership: 'supervisor',
      generation: expect.any(Number),
      operation: { kind: expect.any(String), method: expect.any(String) },
      evidence: { execution: 'unknown' },
    });
    expect([ending.unknown].flat()).toContain((error as { evidence: { cause: string } }).evidence.cause);
  } else if ('unavailable' in ending) {
    expect(error).toMatchObject({
      name: 'ConnectionUnavailableError',
      code: 'unavailable',
      evidence: { execution: 'none', cause: ending.unavailable },
    });
  } else {
    expect(error).toMatchObject(ending.passes);
    expect(error, 'not wrapped').not.toHaveProperty('evidence');
  }
}

const ANY_TIMEOUT = 10_000;

/** Calls a tool of the test server. */
export function callTool(
  { handle }: Pick<Owned, 'handle'>,
  name: string,
  args: Record<string, unknown>,
  timeout = ANY_TIMEOUT,
): Promise<unknown> {
  return handle.callTool({ name, arguments: args }, undefined, { timeout });
}
