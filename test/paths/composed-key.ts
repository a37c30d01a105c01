import type { Parts } from './composed-parts.ts';
import type { Composed, Operation } from './composed-state.ts';

/**
 * Two states are the same configuration if nothing that can still happen tells them apart. Of an operation that has
 * ended nothing is left, and which of two operations in the same place is which makes no difference.
 */
export function composedKey(parts: Parts) {
  return ({ context: { connection, operations, dialIsDue } }: { context: Composed }): string => {
    const keys = operations.map((operation) => operationKeyOf(parts, operation)).sort();
    return `${parts.connection.idOf(connection)} ${dialIsDue} ${keys.join(' | ')}`;
  };
}

export function operationKeyOf(parts: Parts, operation: Operation): string {
  const { policy, phase, inFlight, onCurrent, trouble, sends, runs } = operation;
  if (phase === 'ended') return phase;
  const machine = trouble && parts.operation.idOf(trouble);
  return `${policy} ${phase} ${inFlight} ${onCurrent} ${sends} ${runs} ${machine}`;
}
