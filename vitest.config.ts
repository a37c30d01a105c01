import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Real actors are also run on the build of XState that hosts run: it differs from the one for development. */
const ON_BOTH_BUILDS = 'test/paths/actor-*.test.ts';

export default defineConfig({
  test: {
    // On two cores: half of what a test takes is waiting for its servers. More than these only add noise.
    maxWorkers: 4,
    globalSetup: 'test/support/bundled-servers.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What a test waits for ends when it is so; how long that takes is the machine's business.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // In the gate a busy machine may cost a test one try; the report names each that needed a second.
    retry: process.env.CI === undefined ? 0 : 1,
    projects: [
      {
        extends: true,
        test: { name: 'tests', include: ['test/**/*.test.ts'], env: { XSTATE_BUILD: 'development' } },
      },
      {
        extends: true,
        // Vitest asks for the build for development; plain Node does not.
        resolve: { alias: [{ find: /^xstate$/, replacement: fileURLToPath(import.meta.resolve('xstate')) }] },
        test: {
          name: 'xstate in production',
          include: [ON_BOTH_BUILDS],
          env: { XSTATE_BUILD: 'production' },
        },
      },
    ],
  },
});
