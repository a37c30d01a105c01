/** 100 calls at once on a session that the server has forgotten. By hand: 100 × 404, one connect, 100 calls. */
import { createSupervisor } from '../built.ts';
import { type Figure, spread, time } from '../measure.ts';
import { CALL, CLIENT_INFO } from '../pair.ts';
import { BenchServer, connectHttp } from '../server.ts';
import { summarise } from '../stats.ts';

const CALLS = 100;
const ROUNDS = 40;
const WARM_UP = 8;

export async function herd(): Promise<Figure[]> {
  const server = await new BenchServer().start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  try {
    const owned = supervisor.own('owned', {
      transport: { kind: 'http', url: server.url },
      // Lost all the time: to the supervisor that is a server that flaps.
      recovery: { maxAttempts: 1_000, stableMs: 1 },
    });
    await owned.callTool(CALL);
    let client = await connectHttp(server.url);

    const atOnce = (call: () => Promise<unknown>) => Promise.all(Array.from({ length: CALLS }, call));
    const arms = {
      owned: () => atOnce(() => owned.callTool(CALL)),
      byHand: async () => {
        const lost = client;
        await atOnce(() => lost.callTool(CALL).catch(() => {}));
        client = await connectHttp(server.url);
        await atOnce(() => client.callTool(CALL));
      },
    };
    const times = { owned: [] as number[], byHand: [] as number[] };
    let initializes = 0;
    let calls = 0;
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const order = Math.random() < 0.5 ? (['owned', 'byHand'] as const) : (['byHand', 'owned'] as const);
      for (const arm of order) {
        const lost = client;
        await server.forget();
        const before = await server.counts();
        const begun = performance.now();
        await arms[arm]();
        const ms = performance.now() - begun;
        if (lost !== client) await lost.close();
        if (round < 0) continue;
        times[arm].push(ms);
        if (arm === 'byHand') continue;
        const after = await server.counts();
        initializes = Math.max(initializes, after.initialize - before.initialize);
        calls = Math.max(calls, after.call - before.call);
      }
    }
    await client.close();
    await supervisor.close();

    const ratio = summarise(times.owned.map((ms, round) => ms / (times.byHand[round] as number)));
    return [
      {
        name: `${CALLS} calls at once on a dead session, owned`,
        ratio: ratio.median,
        limit: 1.25,
        unit: '× by hand',
        detail: `${spread(ratio)}; by hand ${time(summarise(times.byHand).median)}; the server ran ${calls} calls`,
      },
      {
        name: 'initializes for them, at most',
        ratio: initializes,
        limit: 1,
        unit: 'as counted by the server',
        detail: `in each of ${ROUNDS} rounds`,
      },
    ];
  } finally {
    await server.stop();
  }
}
