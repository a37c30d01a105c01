/** A call that succeeds, over loopback HTTP to a server in another process: raw client, owned handle. */
import { alternate, timed } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { type Figure, spread, time } from '../measure.ts';
import { CALL, CLIENT_INFO } from '../pair.ts';
import { BenchServer, connectHttp } from '../server.ts';

const BLOCK = 10;

export async function http(): Promise<Figure[]> {
  const server = await new BenchServer().start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  try {
    const raw = await connectHttp(server.url);
    const rawAgain = await connectHttp(server.url);
    const owned = supervisor.own('owned', { transport: { kind: 'http', url: server.url } });
    await owned.ping();

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
    return [
      {
        name: 'call over loopback HTTP, owned',
        ratio: ratios.owned!.median,
        limit: 1.01,
        unit: '× raw client',
        detail:
          `${spread(ratios.owned!)}; raw ${time(times.raw!.median)}; ` +
          `raw against itself ${ratios.rawAgain!.median.toFixed(3)}`,
      },
    ];
  } finally {
    await server.stop();
  }
}
