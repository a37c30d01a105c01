/**
 * `npm run routes`: writes docs/recovery-routes.md and src/testing/routes.generated.ts. `-- --json` writes nothing and
 * prints the figures, with those of the last live run and of the last mutation run.
 */
import { writeFileSync } from 'node:fs';
import { generatedRoutes } from './generated-routes.ts';
import { routesDocument } from './routes-document.ts';
import { figures } from './routes-figures.ts';

const all = figures();
if (process.argv.includes('--json')) {
  console.log(JSON.stringify(all, null, 2));
} else {
  writeFileSync(new URL('../../docs/recovery-routes.md', import.meta.url), routesDocument(all));
  writeFileSync(new URL('../../src/testing/routes.generated.ts', import.meta.url), generatedRoutes());
}
