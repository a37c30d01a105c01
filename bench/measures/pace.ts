/**
 * An outage: the server's port refuses, then it is back. How soon is a call that waits answered, and does a herd of
 * connections dial as one?
 */
import { createSupervisor } from '../built.ts';
import type { Figure } from '../measure.ts';
import { CALL, CLIENT_INFO } from '../pair.ts';
import { BenchServer } from '../server.ts';

const OUTAGES_MS = [1_000, 5_000, 60_000] as const;
const CONNECTIONS = 200;
/** Its mean is that of a second: no more than this many times as much may come in a tenth of it. */
const BIN_MS = 100;
const SECOND_MS = 1_000;

export async function pace(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const outageMs of OUTAGES_MS) figures.push(...(await outage(outageMs)));
  return figures;
}

async function outage(outageMs: number): Promise<Figure[]> {
  const server = await new BenchServer().start();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  const dials: number[] = [];
  const counting: typeof fetch = (asked, init) => {
    if (String(init?.body).includes('"initialize"')) dials.push(performance.now());
    return fetch(asked, init);
  };
  try {
    const handles = Array.from({ length: CONNECTIONS }, (_, index) =>
      supervisor.own(`c${index}`, { transport: { kind: 'http', url: server.url, fetch: counting } }),
    );
    await Promise.all(handles.map((handle) => handle.callTool(CALL)));
    dials.length = 0;
    await server.stop();
    const wentAt = performance.now();
    const answered = handles.map(async (handle) => {
      await handle.callTool(CALL, undefined, { timeout: 10 * 60_000 });
      return performance.now();
    });
    await new Promise((resolve) => setTimeout(resolve, outageMs));
    const refused = dials.length;
    await server.start();
    const backAt = performance.now();
    const lateMs = (await Promise.all(answered)).map((at) => at - backAt);
    const d = backAt - wentAt;
    const allowedMs = 250 + d / 4;
    return [
      {
        name: `a call that waits out ${outageMs / 1_000} s: answered after the server is back, the last of ${CONNECTIONS}`,
        ratio: Math.max(...lateMs) / allowedMs,
        limit: 1,
        unit: '× (250 ms + a quarter of the outage)',
        detail: `${Math.max(...lateMs).toFixed(0)} ms of ${allowedMs.toFixed(0)} ms`,
      },
      {
        name: `${CONNECTIONS} connections refused for ${outageMs / 1_000} s: the most dials in ${BIN_MS} ms`,
        ratio: burst(dials.slice(0, refused)),
        limit: 3,
        unit: '× the mean of the second around it',
        detail: `${refused} dials, ${(refused / CONNECTIONS).toFixed(0)} of each connection`,
      },
    ];
  } finally {
    await supervisor.close();
    await server.stop();
  }
}

/** Of `BIN_MS`, against what it would be if the second around it were even. */
function burst(times: readonly number[]): number {
  const last = times.at(-1) ?? 0;
  const within = (from: number, ms: number) => times.filter((at) => at >= from && at < from + ms).length;
  const whole = times.filter((at) => at <= last - SECOND_MS / 2);
  return Math.max(
    ...whole.map((at) => {
      const around = within(at + (BIN_MS - SECOND_MS) / 2, SECOND_MS);
      return within(at, BIN_MS) / ((around * BIN_MS) / SECOND_MS);
    }),
  );
}
