/** The drawings that the page and `mcp-steward graph` show are of the machines as they are. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CHARTS, drawn } from '../../charts/charts.ts';

for (const chart of CHARTS) {
  it(`"${chart.title}"${chart.labelled ? ', labelled,' : ''} is drawn from the machine (npm run charts)`, async () => {
    expect(readFileSync(chart.file, 'utf8')).toBe(await drawn(chart));
  });
}
