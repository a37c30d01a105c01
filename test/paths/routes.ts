/**
 * `npm run routes`: writes every file of written.ts. `-- --json` writes nothing and prints the figures, with those of
 * the last live run and of the last mutation run.
 */
import { writeFileSync } from 'node:fs';
import { keepLastRuns, newestRun } from './last-run.ts';
import { figures } from './routes-figures.ts';
import { fileOf, WRITTEN } from './written.ts';

if (process.argv.includes('--json')) {
  console.log(JSON.stringify(figures(newestRun), null, 2));
} else {
  keepLastRuns();
  for (const [path, text] of Object.entries(WRITTEN)) writeFileSync(fileOf(path), text());
}
