/** The SDK's two orders of arguments, told apart by whether the second is a schema. */
import type { CallOptions } from './transports/client-shape.ts';

function isSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return '~standard' in value || '_zod' in value || 'safeParse' in value;
}

/** v1 takes `(params, resultSchema?, options?)`, v2 `(params, options?)`. */
export function splitToolArguments(
  second: unknown,
  third: unknown,
): [schema: unknown, options: CallOptions | undefined] {
  if (second === undefined || isSchema(second)) return [second, third as CallOptions | undefined];
  return [undefined, second as CallOptions];
}

export function splitRequestArguments(
  second: unknown,
  third: unknown,
): [schema: unknown, options: CallOptions | undefined] {
  if (isSchema(second)) return [second, third as CallOptions | undefined];
  return [undefined, (third ?? second) as CallOptions | undefined];
}
