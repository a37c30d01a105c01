/** `npm run charts`: draws the two machines anew. The layout is made here, so that no page has to load one. */
import { writeFileSync } from 'node:fs';
import { CHARTS, drawn } from './charts.ts';

for (const chart of CHARTS) writeFileSync(chart.file, await drawn(chart));
