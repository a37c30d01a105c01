import type { SnapshotFrom } from 'xstate';
import type { operationMachine } from '../../machines/operation.machine.ts';

/**
 * Two snapshots are the same configuration if nothing that can still happen tells them apart: of what the failure
 * proves, only its execution does.
 */
export function operationKey({ status, value, context }: SnapshotFrom<typeof operationMachine>): string {
  const { sends, overdue, evidence, unavailability } = context;
  return JSON.stringify({ status, value, sends, overdue, execution: evidence?.execution, unavailability });
}
