/** A call that succeeds, over the SDK's in-memory transport: raw client, owned handle, adopted handle. */
import { alternate, timed } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { type BenchClient, CALL, CLIENT_INFO, IN_MEMORY } from '../columns.ts';
import { type Figure, spread, time } from '../measure.ts';

const BLOCK = 100;

export async function inMemory(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [column, connect] of Object.entries(IN_MEMORY))
    figures.push(...(await measure(column, connect)));
  return figures;
}

async function measure(column: string, connect: () => Promise<BenchClient>): Promise<Figure[]> {
  const raw = await connect();
  const rawAgain = await connect();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  const owned = supervisor.own('owned', { connect: connect as never });
  const lent = await connect();
  const adopted = supervisor.adopt('adopted', lent as never);
  await owned.ping();

  const { times, ratios } = await alternate(
    {
      raw: () => timed(() => raw.callTool(CALL), BLOCK),
      rawAgain: () => timed(() => rawAgain.callTool(CALL), BLOCK),
      owned: () => timed(() => owned.callTool(CALL), BLOCK),
      adopted: () => timed(() => adopted.callTool(CALL), BLOCK),
    },
    { rounds: 2_000, warmUp: 200 },
  );

  await supervisor.close();
  await Promise.all([raw, rawAgain, lent].map((client) => client.close()));
  const noise = `raw ${time(times.raw!.median)}; raw against itself ${ratios.rawAgain!.median.toFixed(3)}`;
  return [
    {
      name: `call in memory, owned${column}`,
      ratio: ratios.owned!.median,
      limit: 1.05,
      unit: '× raw client',
      detail: `${spread(ratios.owned!)}; ${noise}`,
    },
    {
      name: `call in memory, adopted${column}`,
      ratio: ratios.adopted!.median,
      limit: 1.02,
      unit: '× raw client',
      detail: `${spread(ratios.adopted!)}; ${noise}`,
    },
  ];
}
