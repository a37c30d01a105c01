/** 100 calls at once on a session that the server has forgotten. By hand: 100 × 404, one connect, 100 calls. */
import { alternate, timed } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { CALL, CLIENT_INFO, type Column, SESSION_COLUMNS } from '../columns.ts';
import { type Figure, spread, time } from '../measure.ts';
import { BenchServer } from '../server.ts';

const CALLS = 100;
const ROUNDS = 60;

export async function herd(): Promise<Figure[]> {
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
      // Lost all the time: to the supervisor that is a server that flaps.
      recovery: { maxAttempts: 1_000, stableMs: 1 },
    });
    await owned.callTool(CALL);
    let client = await connectHttp(server.url);

    const atOnce = (call: () => Promise<unknown>) => Promise.all(Array.from({ length: CALLS }, call));
    let initializes = 0;
    let calls = 0;
    const { times, ratios } = await alternate(
      {
        byHand: async () => {
          await server.forget();
          const lost = client;
          const ms = await timed(async () => {
            await atOnce(() => lost.callTool(CALL).catch(() => {}));
            client = await connectHttp(server.url);
            await atOnce(() => client.callTool(CALL));
          });
          await lost.close();
          return ms;
        },
        owned: async () => {
          await server.forget();
          const before = await server.counts();
          const ms = await timed(() => atOnce(() => owned.callTool(CALL)));
          const after = await server.counts();
          initializes = Math.max(initializes, after.initialize - before.initialize);
          calls = Math.max(calls, after.call - before.call);
          return ms;
        },
      },
      { rounds: ROUNDS, warmUp: 8 },
    );

    await client.close();
    await supervisor.close();

    return [
      {
        name: `${CALLS} calls at once on a dead session, owned${name}`,
        ratio: ratios.owned!.median,
        limit: 1.25,
        unit: '× by hand',
        detail: `${spread(ratios.owned!)}; by hand ${time(times.byHand!.median)}; the server ran ${calls} calls`,
      },
      {
        name: `initializes for them, at most${name}`,
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
