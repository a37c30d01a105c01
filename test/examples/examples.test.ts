// Each example asserts its own claim; here each runs as a host would run it, in a process of its own.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const run = promisify(execFile);

/** They load whole host libraries, on a machine that may be busy. */
const TIMEOUT_MS = 120_000;

describe('examples', () => {
  it.for(readdirSync(folder).filter((name) => name.endsWith('.ts')))(
    '%s',
    { timeout: TIMEOUT_MS },
    async (name) => {
      const { stderr } = await run(process.execPath, ['--import', 'tsx', `${folder}${name}`], {
        timeout: TIMEOUT_MS,
      });
      expect(stderr).toBe('');
    },
  );
});
