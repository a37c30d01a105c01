/**
 * Figures beside the raw SDK client's: `npm run bench`, or `npm run bench -- --json`.
 * They are reported, not enforced: the exit code is 0 also where a limit is exceeded. `-- herd heap` runs those only.
 */
import type { Figure, Measure } from './measure.ts';

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
  herd: async () => (await import('./measures/herd.ts')).herd,
  page: async () => (await import('./measures/page-open.ts')).pageOpen,
  paint: async () => (await import('./measures/page-paint.ts')).pagePaint,
  heap: async () => (await import('./measures/heap.ts')).heap,
  import: async () => (await import('./measures/cold-import.ts')).coldImport,
};

const figures: Figure[] = [];
for (const [name, load] of Object.entries(measures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const measure = await load();
  for (const figure of await measure()) {
    figures.push(figure);
    if (!asJson) show(figure);
  }
}

if (asJson) {
  const rows = figures.map(({ name, ratio, limit, unit }) => ({ name, ratio, limit, unit }));
  console.log(JSON.stringify(rows, null, 2));
}

function show({ name, ratio, limit, unit, detail }: Figure): void {
  const verdict = ratio <= limit ? 'within' : 'OVER  ';
  console.log(`${verdict}  ${ratio.toFixed(3).padStart(7)} of ${String(limit).padEnd(4)}  ${name} (${unit})`);
  console.log(`                         ${detail}`);
}
