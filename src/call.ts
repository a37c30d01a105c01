import type { Ask } from './asks.ts';
import { isDuration, MAX_DURATION_MS } from './durations.ts';
import type { OperationSpec, PolicyFacts } from './operations.ts';
import type { CallObserver } from './telemetry.ts';
import type { CallOptions } from './transports/client-shape.ts';

/** One call by the host: a plain object for as long as nothing goes wrong. Nothing of it may be told to anyone. */
export interface Call {
  readonly spec: OperationSpec;
  readonly params: unknown;
  readonly options: CallOptions | undefined;
  readonly ask: Ask;
  /** Of the result, where the caller gave one. */
  readonly schema: unknown;
  readonly timeoutMs: number;
  /** Hears what becomes of it, where the host traces. */
  readonly observer: CallObserver | undefined;
  /** From `Date.now()`, which costs a call less than a monotonic clock; moved by progress where the caller asked for that. */
  startedAt: number;
}

/** The first option of a call that cannot be meant: a timer would fire at once, or a signal never. */
export function wrongOption(options: CallOptions): { option: string; expected: string } | undefined {
  for (const option of ['timeout', 'maxTotalTimeout'] as const) {
    const value = options[option] ?? 0;
    if (!isDuration(value)) return { option, expected: `expected a duration of 0 to ${MAX_DURATION_MS} ms` };
  }
  const { signal } = options;
  if (signal === undefined || typeof Object(signal).addEventListener === 'function') return undefined;
  return { option: 'signal', expected: 'expected an AbortSignal' };
}

/** Read only when something went wrong. */
export function policyFacts({ params, options }: Call): PolicyFacts {
  const { name, task } = (params ?? {}) as { name?: unknown; task?: unknown };
  return {
    tool: typeof name === 'string' ? name : undefined,
    createsTask: task !== undefined || (options as { task?: unknown } | undefined)?.task !== undefined,
  };
}

/** What is left of the one deadline that covers waiting and every send. */
export function remainingMs(call: Call): number {
  const elapsedMs = Math.max(0, Date.now() - call.startedAt);
  return Math.max(0, totalMs(call) - elapsedMs);
}

export function totalMs({ options, timeoutMs }: Call): number {
  if (options?.maxTotalTimeout === undefined) return timeoutMs;
  return options.resetTimeoutOnProgress
    ? options.maxTotalTimeout
    : Math.min(timeoutMs, options.maxTotalTimeout);
}

/** The SDK's own default (both versions). */
const SDK_TIMEOUT_MS = 60_000;

/** The SDK would do by itself what the options of this call would say. */
export function isPlain({ options, timeoutMs }: Call): boolean {
  return options === undefined && timeoutMs === SDK_TIMEOUT_MS;
}

/** The options of one send. */
export function sendOptions(call: Call, leftMs: number): CallOptions {
  const { options, timeoutMs } = call;
  const timeout = Math.min(timeoutMs, leftMs);
  if (
    options?.onprogress === undefined ||
    !options.resetTimeoutOnProgress ||
    options.maxTotalTimeout !== undefined
  ) {
    return { ...options, timeout };
  }
  const { onprogress } = options;
  return {
    ...options,
    timeout,
    onprogress: (progress: never) => {
      call.startedAt = Date.now();
      onprogress(progress);
    },
  };
}

/**
 * The cap that has to be enforced here: without it the SDK looks at the total only when progress comes, or when the
 * host has answered what the server asked.
 */
export function capOf({ options, startedAt }: Call, mayTakeSeveralRequests: boolean): number | undefined {
  const { maxTotalTimeout, resetTimeoutOnProgress } = options ?? {};
  if (maxTotalTimeout === undefined || !(resetTimeoutOnProgress || mayTakeSeveralRequests)) return undefined;
  return Math.max(0, startedAt + maxTotalTimeout - Date.now());
}
