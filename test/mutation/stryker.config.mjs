// One half of `npm run test:mutation`: StrykerJS over what decides. The config literals of the machines are mutated
// by a mutator of our own.
import { readFileSync } from 'node:fs';

/** The implementations of a machine: from `setup({` to the line on which its config begins. */
function implementationsOf(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const first = lines.findIndex((line) => line.endsWith(' = setup({')) + 1;
  const last = lines.indexOf('}).createMachine({') + 1;
  if (first === 0 || last <= first) throw new Error(`${file}: no "setup({ … }).createMachine({"`);
  return `${file}:${first}-${last}`;
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
