/** A machine of the same implementations with a changed config: to show that a check can fail. */
import { type AnyStateMachine, createMachine } from 'xstate';

// biome-ignore lint/suspicious/noExplicitAny: a config in which everything may be changed
export type LooseConfig = any;

export function rebuilt<M extends AnyStateMachine>(machine: M, change: (config: LooseConfig) => void): M {
  const config = cloned(machine.config) as LooseConfig;
  change(config);
  // A change may make a machine that never comes to rest.
  config.options = { maxIterations: 200 };
  return createMachine(config as never, machine.implementations as never) as unknown as M;
}

/** Functions (params, input) are kept as they are. */
function cloned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cloned(each)]));
}
