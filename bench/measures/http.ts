/** A call that succeeds, over loopback HTTP to a server in another process: raw client, owned handle. */
import { alternate, timed } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { CALL, CLIENT_INFO, type Column, HTTP_COLUMNS } from '../columns.ts';
import { type Figure, spread, time } from '../measure.ts';
import { BenchServer } from '../server.ts';

const BLOCK = 10;

/** At 2026-07-28 a call may be several requests, which takes a signal of its own. */
const LIMITS: Readonly<Record<Column['server'], number>> = { http: 1.01, modern: 1.02 };

export async function http(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const column of HTTP_COLUMNS) figures.push(await measure(column));
  return figures;
}

async function measure({ name, server: script, connectHttp, owned: options }: Column): Promise<Figure> {
  const server = await new BenchServer(script).start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  try {
    const raw = await connectHttp(server.url);
    const rawAgain = await connectHttp(server.url);
    const owned = supervisor.own('owned', options(server.url));
    await owned.callTool(CALL);

    const { times, ratios } = await alternate(
      {
        raw: () => timed(() => raw.callTool(CALL), BLOCK),
        rawAgain: () => timed(() => rawAgain.callTool(CALL), BLOCK),
        owned: () => timed(() => owned.callTool(CALL), BLOCK),
      },
      { rounds: 1_000, warmUp: 100 },
    );

    await supervisor.close();
    await Promise.all([raw, rawAgain].map((client) => client.close()));
    return {
      name: `call over loopback HTTP, owned${name}`,
      ratio: ratios.owned!.median,
      limit: LIMITS[script],
      unit: '× raw client',
      detail:
        `${spread(ratios.owned!)}; raw ${time(times.raw!.median)}; ` +
        `raw against itself ${ratios.rawAgain!.median.toFixed(3)}`,
    };
  } finally {
    await server.stop();
  }
}
