/** What `npm run routes` writes of the hand-written tables: the file, and the text that it must have. */
import { readFileSync } from 'node:fs';
import { CONNECTION_ROWS } from './connection-table.ts';
import { generatedRoutes } from './generated-routes.ts';
import { OPERATION_ROWS } from './operation-table.ts';
import { routesDocument } from './routes-document.ts';
import { figures } from './routes-figures.ts';
import { type AnyRow, headTable } from './table-text.ts';

export const WRITTEN: Readonly<Record<string, () => string>> = {
  'machines/connection.machine.ts': () => withHeadTable('machines/connection.machine.ts', CONNECTION_ROWS),
  'machines/operation.machine.ts': () => withHeadTable('machines/operation.machine.ts', OPERATION_ROWS),
  'docs/recovery-routes.md': () => routesDocument(figures()),
  'src/testing/routes.generated.ts': generatedRoutes,
};

export const fileOf = (path: string): URL => new URL(`../../${path}`, import.meta.url);

/** From the line that names its columns to the end of the comment. */
const HEAD_TABLE = /(?<=\n) \* {2}from +whose +to +on \[if\]\n(?: \* .*\n)*(?= \*\/\n)/;

function withHeadTable(path: string, rows: readonly AnyRow[]): string {
  const source = readFileSync(fileOf(path), 'utf8');
  if (!HEAD_TABLE.test(source)) throw new Error(`${path} has no table in its head`);
  return source.replace(HEAD_TABLE, () =>
    headTable(rows)
      .replaceAll(/^(.*)$/gm, ' *  $1')
      .concat('\n'),
  );
}
