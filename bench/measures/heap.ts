/** Heap of an idle owned connection beyond that of the same raw client over the same in-memory transport. */
import { setImmediate } from 'node:timers/promises';
import { createSupervisor } from '../built.ts';
import { CLIENT_INFO, connectInMemory } from '../columns.ts';
import type { Figure } from '../measure.ts';
import { summarise } from '../stats.ts';

const CONNECTIONS = 2_000;
const ROUNDS = 2;

export async function heap(): Promise<Figure[]> {
  await kept(raw);
  await kept(owned);
  const differences: number[] = [];
  const raws: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const rawBytes = await kept(raw);
    const ownedBytes = await kept(owned);
    raws.push(rawBytes / 1_024);
    differences.push((ownedBytes - rawBytes) / 1_024);
  }
  const { median } = summarise(differences);
  return [
    {
      name: 'heap of an idle owned connection beyond the raw client',
      ratio: median,
      limit: 12,
      unit: 'KB',
      detail:
        `${differences.map((kb) => kb.toFixed(2)).join(', ')} KB over ${CONNECTIONS} connections; ` +
        `raw client and its server ${summarise(raws).median.toFixed(1)} KB`,
    },
  ];
}

/** Bytes per connection while they are all held. */
async function kept(open: () => Promise<() => Promise<void>>): Promise<number> {
  const before = await settledHeap();
  const close = await open();
  const bytes = (await settledHeap()) - before;
  await close();
  return bytes / CONNECTIONS;
}

async function raw(): Promise<() => Promise<void>> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, connectInMemory));
  return async () => {
    for (const client of clients) await client.close();
  };
}

async function owned(): Promise<() => Promise<void>> {
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  const handles = Array.from({ length: CONNECTIONS }, (_, n) =>
    supervisor.own(`connection ${n}`, { connect: connectInMemory }),
  );
  for (const handle of handles) await handle.ping();
  return () => supervisor.close();
}

async function settledHeap(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  for (let n = 0; n < 5; n++) {
    await setImmediate();
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}
