import type { SnapshotFrom } from 'xstate';
import type { connectionMachine } from '../../machines/connection.machine.ts';
import { stateName } from './state-name.ts';

/**
 * Two snapshots are the same configuration if nothing that can still happen tells them apart. Left out are the number of
 * the generation (reports name it relative to the current one), what only serves to be said (which cause it is, but for the one
 * that lets a dial go at once), and outside of `ready` and of `connecting` what is noted there: it is begun anew.
 */
export function connectionKey({ status, value, context }: SnapshotFrom<typeof connectionMachine>): string {
  const { settings, attempts, retryAfterMs, generation, misses, suspicion, cause } = context;
  const { wanted, dialsSinceStable, firstReadyIsOver, dialsWithoutServer } = context;
  const state = stateName(value);
  const noted = state.startsWith('ready')
    ? { misses: Math.min(misses, settings.missedProbes), slept: suspicion === 'host-slept' }
    : {};
  return JSON.stringify({
    status,
    state,
    attempts,
    retryAfterMs,
    wasReady: generation > 0,
    mayDialAtOnce: /^(lost|recreating.backingOff)$/.test(state) && /^session/.test(String(cause)),
    ...(state.startsWith('connecting')
      ? { failed: cause !== null, firstReadyIsOver, dialsWithoutServer }
      : {}),
    ...(settings.recreate === 'eager' ? { wanted, dialsSinceStable } : {}),
    ...noted,
  });
}
