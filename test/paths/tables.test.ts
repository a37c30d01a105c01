// The tables cannot drift apart: what stands in the head of each machine, in docs/ and in src/testing/ is what the
// hand-written rows say.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CONNECTION_ROWS } from './connection-table.ts';
import { generatedRoutes } from './generated-routes.ts';
import { OPERATION_ROWS } from './operation-table.ts';
import { routesDocument } from './routes-document.ts';
import { figures } from './routes-figures.ts';
import { headTable } from './table-text.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The last paragraph of the comment at the head of the file. */
function tableInHeadOf(path: string): string {
  const head = read(path).split(' */')[0]!;
  const table = head.split('\n *\n').at(-1)!;
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^ \* {2}/, ''))
    .join('\n');
}

it.each([
  ['machines/connection.machine.ts', CONNECTION_ROWS],
  ['machines/operation.machine.ts', OPERATION_ROWS],
] as const)('%s has the table of test/paths/ in its head', (path, rows) => {
  expect(tableInHeadOf(path)).toBe(headTable(rows));
});

it('docs/recovery-routes.md is up to date (npm run routes)', () => {
  expect(read('docs/recovery-routes.md')).toBe(routesDocument(figures()));
});

it('src/testing/routes.generated.ts is up to date (npm run routes)', () => {
  expect(read('src/testing/routes.generated.ts')).toBe(generatedRoutes());
});
