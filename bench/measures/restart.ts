/** The first call after the server's process was killed and started again. By hand, and told of it: new client, connect, call. */
import { alternate, timed } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { CALL, CLIENT_INFO, type Column, SESSION_COLUMNS } from '../columns.ts';
import { type Figure, spread, time } from '../measure.ts';
import { BenchServer } from '../server.ts';

export async function restart(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const column of SESSION_COLUMNS) figures.push(...(await measure(column)));
  return figures;
}

async function measure({ name, connectHttp, owned: options }: Column): Promise<Figure[]> {
  const server = await new BenchServer().start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  try {
    const owned = supervisor.own('owned', {
      ...options(server.url),
      // Restarted all the time: to the supervisor that is a server that flaps.
      recovery: { maxAttempts: 1_000, stableMs: 1 },
    });
    await owned.callTool(CALL);
    let byHand = await connectHttp(server.url);

    const { times, ratios } = await alternate(
      {
        byHand: async () => {
          await server.restart();
          const lost = byHand;
          const ms = await timed(async () => {
            byHand = await connectHttp(server.url);
            await byHand.callTool(CALL);
          });
          await lost.close();
          return ms;
        },
        owned: async () => {
          await server.restart();
          return timed(() => owned.callTool(CALL));
        },
      },
      { rounds: 50, warmUp: 5 },
    );

    await byHand.close();
    await supervisor.close();

    return [
      {
        name: `first call after a server restart, owned${name}`,
        ratio: ratios.owned!.median,
        limit: 1.1,
        unit: '× by hand',
        detail: `${spread(ratios.owned!)}; by hand ${time(times.byHand!.median)}, generation ${owned.generation}`,
      },
    ];
  } finally {
    await server.stop();
  }
}
