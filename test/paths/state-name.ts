import type { StateValue } from 'xstate';

/** `ready.steady`, `closed`, … */
export function stateName(value: StateValue): string {
  return typeof value === 'string' ? value : Object.entries(value).flat().join('.');
}
