/** A call that succeeds, over loopback HTTP to a server in another process: raw client, owned handle. */
import { alternate } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { type Figure, spread, time } from '../measure.ts';
import { CALL, CLIENT_INFO } from '../pair.ts';
import { BenchServer, connectHttp } from '../server.ts';

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
        raw: () => raw.callTool(CALL),
        rawAgain: () => rawAgain.callTool(CALL),
        owned: () => owned.callTool(CALL),
      },
      { block: 10, rounds: 800, warmUp: 80 },
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
