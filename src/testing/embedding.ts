/** What a route gives to the host under test, and what it gets back. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ConnectionHandle } from '../handles.ts';
import type { OwnOptions } from '../options.ts';
import type { SupervisorOptions } from '../supervisor.ts';
import type { FaultServer } from './fault-server.ts';
import type { RouteData } from './route.ts';

/** Durations of a route, in milliseconds. Those of the machine pass when the route says so: its clock is simulated. */
export const DURATIONS = {
  windowMs: 60_000,
  coolDownMs: 40_000,
  stableMs: 30_000,
  requestTimeoutMs: 20_000,
  maxBackoffMs: 400,
  /** Of a probe whose time is to pass; also the distance from the first one to the next. */
  shortProbeMs: 500,
  probeMs: 20_000,
} as const;

/** What a host needs to make its wrapper for one route. */
export interface Situation {
  readonly server: FaultServer;
  /** For `createSupervisor()`: with these options, time passes when the route says so. */
  readonly supervisor: Pick<SupervisorOptions, 'clock'>;
  /** For `own()`, when the route is about an owned connection. The transport of `server`, and a small budget. */
  readonly own: OwnOptions;
  /** For `adopt()` or `adoptSession()`, when it is about a caller-owned one: connected, and the caller's to close. */
  readonly client: Client;
}

/** A host's wrapper at work. */
export interface Embedding {
  /** The handle in it, which is watched and asked to `reconnect()` and `replace()`. */
  readonly connection: ConnectionHandle;
  /** Calls a tool the way the host's users do. Default: through the handle. */
  callTool?(name: string, args: { readonly key: string }, timeoutMs: number): Promise<unknown>;
  /** Closes the wrapper and its supervisor. May be called again. */
  close(): Promise<void>;
}

export type Embed = (situation: Situation) => Embedding | Promise<Embedding>;

/** What an owned connection of a route runs with. */
export function ownOptions(route: RouteData, server: FaultServer): OwnOptions {
  const { recreate, lazy, transport, steps } = route;
  const { windowMs, coolDownMs, stableMs, requestTimeoutMs, maxBackoffMs, shortProbeMs, probeMs } = DURATIONS;
  const isUnanswered = steps.some(({ event }) => event.startsWith('probe unanswered'));
  const isLostBySilence = steps.some(({ event }) => event === 'probe unanswered, and silent for long');
  return {
    transport: server.target,
    lazy,
    recovery: {
      recreate,
      maxAttempts: 2,
      windowMs,
      coolDownMs,
      stableMs,
      initialBackoffMs: 100,
      maxBackoffMs,
    },
    timeouts: { requestTimeoutMs, closeTimeoutMs: 2_000, drainTimeoutMs: 2_000 },
    liveness: {
      probeTimeoutMs: isUnanswered ? shortProbeMs : probeMs,
      ...(isLostBySilence && { missedProbes: 1, silenceMs: 1, busySilenceMs: 1 }),
    },
    replay: { tools: { read: transport === 'http' ? 'never' : 'safe' } },
  };
}
