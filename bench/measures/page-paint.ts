/** The page in Chromium: what its first paint takes, and whether it keeps up with 1 000 transitions a second. */
import type { Page } from 'playwright-core';
import { launchChromium, NO_CHROMIUM } from '../../test/browser/chromium.ts';
import { Storm, watchSmoothness } from '../../test/browser/storm.ts';
import { createSupervisor } from '../built.ts';
import { CLIENT_INFO } from '../columns.ts';
import type { Figure, Skipped } from '../measure.ts';
import { summarise } from '../stats.ts';

const PER_SECOND = 1_000;
const SECONDS = 5;
const OPENINGS = 9;

const FIRST_PAINT = { name: 'first contentful paint of the page', limit: 300, unit: 'ms' };
const BYTES = { name: 'the page over the wire', limit: 60, unit: 'KB' };
const LONGEST_FRAME = {
  name: `longest frame at ${PER_SECOND} transitions a second`,
  limit: 100,
  unit: 'ms',
};

export async function pagePaint(): Promise<readonly (Figure | Skipped)[]> {
  const browser = await launchChromium().catch(() => undefined);
  if (browser === undefined) {
    return [FIRST_PAINT, BYTES, LONGEST_FRAME].map((limit) => ({ ...limit, skipped: NO_CHROMIUM }));
  }
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  await using storm = await Storm.over(supervisor, 20);
  const served = await supervisor.page();
  try {
    const paints: number[] = [];
    let bytes = 0;
    for (let opening = 0; opening < OPENINGS; opening++) {
      const page = await browser.newPage();
      bytes = await bytesOf(page, served.url);
      paints.push(
        Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")),
      );
      await page.close();
    }

    const page = await browser.newPage();
    await page.goto(served.url);
    await page.getByText('Live', { exact: true }).waitFor();
    const smoothness = await watchSmoothness(page);
    const transitions = await storm.blow({ perSecond: PER_SECOND, seconds: SECONDS });
    const { longestTask, longestFrame, frames } = await smoothness();
    return [
      {
        ...FIRST_PAINT,
        ratio: summarise(paints).median,
        detail: `${OPENINGS} openings, ${Math.min(...paints).toFixed(0)}–${Math.max(...paints).toFixed(0)} ms`,
      },
      {
        ...BYTES,
        ratio: bytes / 1_000,
        detail: 'every file and the first of the events, with headers',
      },
      {
        ...LONGEST_FRAME,
        ratio: longestFrame,
        detail: `${transitions} transitions, ${frames} frames in ${SECONDS} s; longest task ${longestTask} ms`,
      },
    ];
  } finally {
    await served.close();
    await supervisor.close();
    await browser.close();
  }
}

/** What the network carried until the page was live, headers and all; of the stream, which does not end, its data. */
async function bytesOf(page: Page, url: string): Promise<number> {
  const loaded = new Map<string, number>();
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  network.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    loaded.set(requestId, (loaded.get(requestId) ?? 0) + encodedDataLength);
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    loaded.set(requestId, encodedDataLength);
  });
  await page.goto(url);
  await page.getByText('Live', { exact: true }).waitFor();
  return [...loaded.values()].reduce((sum, bytes) => sum + bytes, 0);
}
