/** The first call after the server's process was killed and started again. By hand, and told of it: new client, connect, call. */
import { createSupervisor } from '../built.ts';
import { type Figure, spread, time } from '../measure.ts';
import { CALL, CLIENT_INFO } from '../pair.ts';
import { BenchServer, connectHttp } from '../server.ts';
import { summarise } from '../stats.ts';

const ROUNDS = 60;
const WARM_UP = 5;

export async function restart(): Promise<Figure[]> {
  const server = await new BenchServer().start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  try {
    const owned = supervisor.own('owned', {
      transport: { kind: 'http', url: server.url },
      // Restarted all the time: to the supervisor that is a server that flaps.
      recovery: { maxAttempts: 1_000, stableMs: 1 },
    });
    await owned.callTool(CALL);
    let byHand = await connectHttp(server.url);

    const arms = {
      owned: () => owned.callTool(CALL),
      byHand: async () => {
        byHand = await connectHttp(server.url);
        await byHand.callTool(CALL);
      },
    };
    const times = { owned: [] as number[], byHand: [] as number[] };
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const order = Math.random() < 0.5 ? (['owned', 'byHand'] as const) : (['byHand', 'owned'] as const);
      for (const arm of order) {
        const before = byHand;
        await server.restart();
        const begun = performance.now();
        await arms[arm]();
        const ms = performance.now() - begun;
        if (round >= 0) times[arm].push(ms);
        if (before !== byHand) await before.close();
      }
    }
    await byHand.close();
    await supervisor.close();

    const ratio = summarise(times.owned.map((ms, round) => ms / (times.byHand[round] as number)));
    return [
      {
        name: 'first call after a server restart, owned',
        ratio: ratio.median,
        limit: 1.1,
        unit: '× by hand',
        detail: `${spread(ratio)}; by hand ${time(summarise(times.byHand).median)}, generation ${owned.generation}`,
      },
    ];
  } finally {
    await server.stop();
  }
}
