// One half of `npm run test:mutation`: StrykerJS over what decides. The config literals of the machines are mutated
// by a mutator of our own.
import { readFileSync } from 'node:fs';

/** A machine's file up to its config: the functions and the implementations. */
function implementationsOf(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const last = lines.indexOf('}).createMachine({') + 1;
  if (last === 0) throw new Error(`${file}: no "}).createMachine({"`);
  return `${file}:1-${last}`;
}

export default {
  mutate: [
    'src/evidence/**/*.ts',
    'src/operations.ts',
    'machines/vocabulary.ts',
    implementationsOf('machines/connection.machine.ts'),
    implementationsOf('machines/operation.machine.ts'),
  ],
  plugins: ['@stryker-mutator/vitest-runner', './test/mutation/only-for-types.mjs'],
  ignorers: ['only-for-types'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  // Vitest looks at no types.
  disableTypeChecks: false,
  incremental: false,
  timeoutMS: 20_000,
  concurrency: 2,
  // Untracked, and left alone by Biome, like every other thing that a run writes.
  tempDirName: 'coverage/mutation/sandbox',
  ignorePatterns: ['coverage', 'dist'],
  reporters: ['json', 'clear-text'],
  clearTextReporter: { reportTests: false, allowColor: false },
  jsonReporter: { fileName: 'coverage/mutation/stryker.json' },
};
