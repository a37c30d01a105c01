/** A call over loopback HTTP while somebody looks on at the page, to one that nobody looks on at. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { alternate, timed } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { CALL, CLIENT_INFO } from '../columns.ts';
import { type Figure, spread, time } from '../measure.ts';
import { BenchServer } from '../server.ts';

const BLOCK = 10;
const VIEWER = fileURLToPath(new URL('../servers/viewer.mjs', import.meta.url));

export async function pageOpen(): Promise<Figure[]> {
  const server = await new BenchServer().start();
  const transport = { kind: 'http', url: server.url } as const;
  const unseen = createSupervisor({ clientInfo: CLIENT_INFO });
  const seen = createSupervisor({ clientInfo: CLIENT_INFO });
  const page = await seen.page();
  const viewer = fork(VIEWER, [page.url], { execArgv: [] });
  try {
    const [alone, watched] = [unseen.own('alone', { transport }), seen.own('watched', { transport })];
    await Promise.all([alone.ping(), watched.ping(), once(viewer, 'message')]);
    const { times, ratios } = await alternate(
      {
        alone: () => timed(() => alone.callTool(CALL), BLOCK),
        watched: () => timed(() => watched.callTool(CALL), BLOCK),
      },
      { rounds: 1_000, warmUp: 100 },
    );
    return [
      {
        name: 'call over loopback HTTP, page open',
        ratio: ratios.watched!.median,
        limit: 1.05,
        unit: '× without a page',
        detail: `${spread(ratios.watched!)}; without ${time(times.alone!.median)}`,
      },
    ];
  } finally {
    viewer.kill();
    await page.close();
    await Promise.all([unseen.close(), seen.close()]);
    await server.stop();
  }
}
