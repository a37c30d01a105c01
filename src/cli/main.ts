#!/usr/bin/env node
/**
 * The command line. Exit codes: 0 all is well; 1 a server is not; 2 the command or its configuration is wrong; 128
 * and its number at a signal.
 */
import { InvalidOptionsError } from '../errors.ts';
import { printable } from './printable.ts';
import { run } from './run.ts';
import { UsageError } from './usage-error.ts';

// Whoever reads has had enough: `mcp-steward graph | head -1`. It ends as other programs do at SIGPIPE.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1));

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof InvalidOptionsError)) throw error;
  process.stderr.write(`mcp-steward: ${printable(error.message)}\nmcp-steward --help tells how to use it\n`);
  process.exitCode = 2;
}
