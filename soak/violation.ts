import type { FaultRecord, JournalLine } from './records.ts';

export type Rule =
  | 'ran twice'
  | 'safe call ran more than twice'
  | 'asked twice'
  | 'success without an execution'
  | 'answer of another call'
  | 'said not to have run, and ran'
  | 'settled after its deadline'
  | 'never settled'
  | 'hung after its server had died'
  | 'illegal transition'
  | 'recreated without a handshake'
  | 'not usable again'
  | 'close() or reconnect() did not end'
  | 'process left'
  | 'session left'
  | 'socket left'
  | 'handle or listener left'
  | 'memory grows'
  | 'warning';

/** Something that must not be. */
export interface Violation {
  readonly rule: Rule;
  readonly connection?: string;
  readonly call?: string;
  readonly detail: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What the server wrote down about the call. */
  readonly lines?: readonly JournalLine[];
  /** What the monkey did at that site, from shortly before the call until it had settled. */
  readonly faults?: readonly FaultRecord[];
}
