/** What the events of the connection are called in its table: those that mean the same to it are one group. */
import type { ConnectionEventName } from './connection-fixtures.ts';

export const EVENT_GROUPS = {
  demand: [
    'demand, safe, unsent',
    'demand, safe, not run',
    'demand, safe, may have run',
    'demand, safe, answered',
    'demand, if-unsent, unsent',
    'demand, if-unsent, not run',
    'demand, if-unsent, may have run',
    'demand, if-unsent, answered',
    'demand, never, unsent',
    'demand, never, not run',
    'demand, never, may have run',
    'demand, never, answered',
  ],
  reconnect: ['reconnect'],
  lost: ['lost', 'lost, rejected', 'lost, closed'],
  'suspected, by silence': ['suspected, timeout', 'suspected, heartbeat'],
  'suspected, by more': ['suspected, deaf'],
  'suspected, the host slept': ['suspected, host-slept'],
  heard: ['heard'],
  answered: ['answered'],
  authorized: ['authorized'],
  'of another generation': [
    'demand, of the generation before',
    'demand, of a generation to come',
    'lost, of the generation before',
    'lost, of a generation to come',
    'suspected, of the generation before',
    'suspected, of a generation to come',
    'heard, of the generation before',
    'heard, of a generation to come',
    'answered, of the generation before',
    'answered, of a generation to come',
  ],
  'probe answered': ['probe answered'],
  'probe lost': ['probe lost'],
  'probe could not be sent': ['probe could not be sent'],
  // Nothing is in flight or outstanding. Silent: for `silenceMs`.
  'unanswered, idle': ['unanswered, idle, heard of lately'],
  'unanswered, idle, silent': ['unanswered, idle, silent'],
  // Silent: for `silenceMs`, and for `busySilenceMs` while anything is outstanding; and what is in flight came later.
  'unanswered, busy, silent': ['unanswered, later call, silent', 'unanswered, outstanding, silent'],
  'unanswered, busy': [
    'unanswered, later call, heard of lately',
    'unanswered, outstanding, not silent for long',
    'unanswered, earlier call, silent',
    'unanswered, no facts',
  ],
  // Without a session; for the window: since the first of them in a row.
  'no server': ['no server'],
  'no server, for the window': ['no server, for the window'],
  retired: ['retired'],
  'retiring failed': ['retiring failed'],
  'retiring failed for good': ['retiring failed for good'],
  opened: ['opened'],
  'open failed': ['open failed', 'open failed, and the server asks to wait'],
  'open failed, unauthorized': ['open failed, unauthorized'],
  'open failed for good': ['open failed for good', 'open failed, and the server asks for too long a wait'],
  verified: ['verified'],
  unverified: ['unverified'],
  replaced: ['replaced'],
  close: ['close'],
  'shut down': ['shut down', 'shutdown failed'],
  'after backoff': ['after backoff'],
  'after window': ['after window'],
  'after firstReady': ['after firstReady'],
  'after stable': ['after stable'],
  'after coolDown': ['after coolDown'],
  'after probeDistance': ['after probeDistance'],
  'after nextAttempt': ['after nextAttempt'],
} as const satisfies Record<string, readonly ConnectionEventName[]>;

export type EventGroup = keyof typeof EVENT_GROUPS;

export function isIn(group: EventGroup, event: string): boolean {
  return (EVENT_GROUPS[group] as readonly string[]).includes(event);
}
