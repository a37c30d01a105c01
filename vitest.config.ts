import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes on two cores: more workers than cores only add noise.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // In the gate a busy machine may cost a test one try; the report names each that needed a second.
    retry: process.env.CI === undefined ? 0 : 1,
  },
});
