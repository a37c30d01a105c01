/**
 * Figures beside the raw SDK client's: `npm run bench`, or `npm run bench -- --json`.
 * They are reported, not enforced: the exit code is 0 also where a limit is exceeded. `-- herd heap` runs those only.
 * Without Chromium the page's figures are skipped.
 */
import type { Figure, Measure, Skipped } from './measure.ts';

process.env.NODE_ENV = 'production';
// undici leaves a listener per request on a transport's signal until they are collected, and warns of them.
process.removeAllListeners('warning');

const asJson = process.argv.includes('--json');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

// Only now, so that whatever looks at NODE_ENV while it loads sees it.
const measures: Record<string, () => Promise<Measure>> = {
  memory: async () => (await import('./measures/in-memory.ts')).inMemory,
  http: async () => (await import('./measures/http.ts')).http,
  restart: async () => (await import('./measures/restart.ts')).restart,
  pace: async () => (await import('./measures/pace.ts')).pace,
  herd: async () => (await import('./measures/herd.ts')).herd,
  page: async () => (await import('./measures/page-open.ts')).pageOpen,
  paint: async () => (await import('./measures/page-paint.ts')).pagePaint,
  heap: async () => (await import('./measures/heap.ts')).heap,
  import: async () => (await import('./measures/cold-import.ts')).coldImport,
};

if (asJson) console.log('[');
let rows = 0;
for (const [name, load] of Object.entries(measures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const measure = await load();
  const results = await measure();
  // At once: an interrupted run keeps what it measured.
  if (asJson) results.forEach(showRow);
  else showLines(results);
}
if (asJson) console.log(']');

function showRow({ name, limit, unit, ...result }: Figure | Skipped): void {
  const outcome = 'skipped' in result ? { skipped: result.skipped } : { ratio: result.ratio };
  console.log(`${rows++ === 0 ? ' ' : ','} ${JSON.stringify({ name, limit, unit, ...outcome })}`);
}

function showLines(results: readonly (Figure | Skipped)[]): void {
  for (const result of results) if (!('skipped' in result)) show(result);
  const skipped = results.filter((result) => 'skipped' in result);
  const names = skipped.map(({ name }) => name).join('; ');
  if (skipped[0] !== undefined) console.log(`skipped  ${names}: ${skipped[0].skipped}`);
}

function show({ name, ratio, limit, unit, detail }: Figure): void {
  const verdict = ratio <= limit ? 'within' : 'OVER  ';
  console.log(`${verdict}  ${ratio.toFixed(3).padStart(7)} of ${String(limit).padEnd(4)}  ${name} (${unit})`);
  console.log(`                         ${detail}`);
}
