/** A call that succeeds, over the SDK's in-memory transport: raw client, owned handle, adopted handle. */
import { alternate } from '../alternate.ts';
import { createSupervisor } from '../built.ts';
import { type Figure, spread, time } from '../measure.ts';
import { CALL, CLIENT_INFO, connectInMemory } from '../pair.ts';

export async function inMemory(): Promise<Figure[]> {
  const raw = await connectInMemory();
  const rawAgain = await connectInMemory();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  const owned = supervisor.own('owned', { connect: connectInMemory });
  const lent = await connectInMemory();
  const adopted = supervisor.adopt('adopted', lent);
  await owned.ping();

  const { times, ratios } = await alternate(
    {
      raw: () => raw.callTool(CALL),
      rawAgain: () => rawAgain.callTool(CALL),
      owned: () => owned.callTool(CALL),
      adopted: () => adopted.callTool(CALL),
    },
    { block: 100, rounds: 1_500, warmUp: 150 },
  );

  await supervisor.close();
  await Promise.all([raw, rawAgain, lent].map((client) => client.close()));
  const noise = `raw ${time(times.raw!.median)}; raw against itself ${ratios.rawAgain!.median.toFixed(3)}`;
  return [
    {
      name: 'call in memory, owned',
      ratio: ratios.owned!.median,
      limit: 1.05,
      unit: '× raw client',
      detail: `${spread(ratios.owned!)}; ${noise}`,
    },
    {
      name: 'call in memory, adopted',
      ratio: ratios.adopted!.median,
      limit: 1.02,
      unit: '× raw client',
      detail: `${spread(ratios.adopted!)}; ${noise}`,
    },
  ];
}
