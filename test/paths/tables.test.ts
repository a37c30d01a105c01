// The tables cannot drift apart: what stands in the head of each machine, in docs/ and in src/testing/ is what the
// hand-written rows say.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fileOf, WRITTEN } from './written.ts';

// The document's figures take all the graphs.
it.each(Object.entries(WRITTEN))('%s is up to date (npm run routes)', { timeout: 120_000 }, (path, text) => {
  expect(readFileSync(fileOf(path), 'utf8')).toBe(text());
});
