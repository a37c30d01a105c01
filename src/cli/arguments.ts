import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  config: { type: 'string' },
  format: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  open: { type: 'boolean' },
  port: { type: 'string' },
} as const;

export type Option = keyof typeof OPTIONS;

export type Arguments = ReturnType<typeof parse>;

/** @throws {UsageError} for an option that no command has. */
export function parse(argv: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    const [command, ...operands] = positionals;
    return { command, operands, options: values };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
