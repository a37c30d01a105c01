/**
 * An outage: the server's port refuses, then it is back. How soon is a call that waits answered, and do many
 * connections dial as if they were one?
 */
import { createSupervisor } from '../built.ts';
import { CALL, CLIENT_INFO } from '../columns.ts';
import type { Figure } from '../measure.ts';
import { BenchServer } from '../server.ts';

const WAITED_OUT_MS = [500, 1_000, 5_000] as const;
const FEW = 5;
const REFUSED_FOR_MS = [1_000, 5_000, 60_000] as const;
const MANY = 200;
const TENTH_MS = 100;
const SECOND_MS = 1_000;

export async function pace(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const outageMs of WAITED_OUT_MS) figures.push(await lateness(outageMs));
  for (const outageMs of REFUSED_FOR_MS) figures.push(await storm(outageMs));
  return figures;
}

/** The worst of a few, so that what is measured is the waiting and not their handshakes. */
async function lateness(outageMs: number): Promise<Figure> {
  const { worstMs, lastedMs } = await outage(FEW, outageMs);
  const allowedMs = 250 + lastedMs / 4;
  return {
    name: `a call that waits out ${outageMs / 1_000} s, answered after the server is back`,
    ratio: worstMs / allowedMs,
    limit: 1,
    unit: '× (250 ms + a quarter of the outage)',
    detail: `the last of ${FEW} after ${worstMs.toFixed(0)} ms of ${allowedMs.toFixed(0)} ms`,
  };
}

async function storm(outageMs: number): Promise<Figure> {
  const { refused } = await outage(MANY, outageMs);
  return {
    name: `${MANY} connections refused for ${outageMs / 1_000} s, the most dials in a tenth of a second`,
    ratio: burst(refused),
    limit: 3,
    unit: '× the mean of the second around it',
    detail: `${refused.length} dials, ${(refused.length / MANY).toFixed(0)} of each connection`,
  };
}

/** Each connection has a call that waits. `refused`: when each dial began that could not succeed. */
async function outage(connections: number, outageMs: number) {
  const server = await new BenchServer().start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  const dials: number[] = [];
  const counting: typeof fetch = (asked, init) => {
    if (String(init?.body).includes('"initialize"')) dials.push(performance.now());
    return fetch(asked, init);
  };
  try {
    const handles = Array.from({ length: connections }, (_, index) =>
      supervisor.own(`${index}`, { transport: { kind: 'http', url: server.url, fetch: counting } }),
    );
    await Promise.all(handles.map((handle) => handle.callTool(CALL)));
    dials.length = 0;
    await server.stop();
    const wentAt = performance.now();
    const answered = handles.map(async (handle) => {
      await handle.callTool(CALL, undefined, { timeout: 2 * 60_000 });
      return performance.now();
    });
    await new Promise((resolve) => setTimeout(resolve, outageMs));
    const refused = [...dials];
    await server.start();
    const backAt = performance.now();
    const late = (await Promise.all(answered)).map((at) => at - backAt);
    return { worstMs: Math.max(...late), lastedMs: backAt - wentAt, refused };
  } finally {
    await supervisor.close();
    await server.stop();
  }
}

/** The most of a tenth of a second, against what it would be if the second around it were even. */
function burst(times: readonly number[]): number {
  const last = times.at(-1) ?? 0;
  const within = (from: number, ms: number) => times.filter((at) => at >= from && at < from + ms).length;
  const ratios = times
    .filter((at) => at <= last - SECOND_MS / 2)
    .map((at) => {
      const around = within(at + (TENTH_MS - SECOND_MS) / 2, SECOND_MS);
      return (within(at, TENTH_MS) * SECOND_MS) / (around * TENTH_MS);
    });
  return Math.max(...ratios);
}
