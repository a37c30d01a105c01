// Everything that is needed, without a mouse; and nothing that axe-core finds wrong.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page as BrowserPage } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSupervisor, type Supervisor } from '../../src/index.ts';
import { type Page, servePage } from '../../src/inspect/page/serve-page.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { settled } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { inBrowser, logOf, rowOf, rowsOf } from './browser.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let supervisor: Supervisor;
let served: Page;
let servers: FaultServer[];
let used: string[];

/** A connection in each state where one can rest, a suspect one, operations in trouble, recoveries, a control. */
beforeAll(async () => {
  const four = await Promise.all([
    FaultServer.start(),
    FaultServer.start(),
    FaultServer.start(),
    FaultServer.start(),
  ]);
  servers = four;
  const [healthy, spent, shared, silent] = four;
  supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  used = [];
  const note = { label: 'Note it', run: (connection: string) => void used.push(connection) };
  served = await servePage(supervisor, { controls: { note } });
  const recovery = { maxAttempts: 2, initialBackoffMs: 1, coolDownMs: 600_000 };
  const files = supervisor.own('files', { transport: healthy.target, recovery });
  const billing = supervisor.own('billing', { transport: spent.target, recovery });
  const calendar = supervisor.own('calendar', { transport: shared.target, recovery });
  supervisor.own('search', { transport: healthy.target, lazy: true });
  const slow = supervisor.own('slow', {
    transport: silent.target,
    liveness: { probeTimeoutMs: 600_000 },
  });
  const mine = supervisor.adopt(
    'mine',
    (await connectV1(new URL((shared.target as { url: string }).url))).client,
  );
  const append = { name: 'append', arguments: { key: 'a' } };
  await Promise.all([files, billing, calendar, slow, mine].map((each) => each.callTool(append)));
  await spent.when('initialize', 'forbid');
  await shared.when('tools/call', 'lose-answer');
  for (const each of [healthy, spent]) await each.restart();
  await Promise.all([files, billing, calendar].map((each) => settled(each.callTool(append))));
  await shared.kill();
  await settled(mine.ping());
  await silent.when('tools/call', 'ignore');
  await silent.when('ping', 'hold');
  slow.callTool(append, { timeout: 50 }).catch(() => {});
  await silent.until('the probe is held', ({ held }) => held === 1);
}, 60_000);
afterAll(async () => {
  await served.close();
  await supervisor.close();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
});

/** Where the focus is: its name, as a screen reader has it. */
function focused(page: BrowserPage): Promise<string> {
  return page.evaluate(() => {
    const { activeElement: element } = document;
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim().replace(/\s+/g, ' ') ?? '';
  });
}

async function tabTo(page: BrowserPage, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    const here = await focused(page);
    if (typeof name === 'string' ? here === name : name.test(here)) return;
    passed.push(here);
  }
  throw new Error(`Tab does not lead to ${name}, but to: ${passed.join(' | ')}`);
}

inBrowser('by keyboard alone', (open) => {
  it('a connection is chosen with the arrows', async () => {
    const page = await open(served.url);
    await tabTo(page, /^files/);
    const names = await rowsOf(page).evaluateAll((rows) => rows.map((row) => row.getAttribute('data-name')));
    expect(names).toEqual(['files', 'billing', 'calendar', 'search', 'slow', 'mine']);
    const isChosen = async (name: string) => {
      expect(await rowOf(page, name).getAttribute('aria-selected')).toBe('true');
      expect(await focused(page)).toMatch(new RegExp(`^${name}`));
      expect(await page.locator('#detail h2').textContent()).toBe(name);
    };
    for (const [key, name] of [
      ['ArrowDown', 'billing'],
      ['ArrowDown', 'calendar'],
      ['ArrowUp', 'billing'],
      ['End', 'mine'],
      ['ArrowDown', 'mine'],
      ['Home', 'files'],
      ['PageDown', 'mine'],
    ] as const) {
      await page.keyboard.press(key);
      await isChosen(name);
    }
    await page.keyboard.press('Tab');
    expect(await focused(page), 'one Tab leads out of the list').not.toMatch(
      /^(files|billing|calendar|search|slow)/,
    );
  });

  it('connections are searched, and the first is one arrow away', async () => {
    const page = await open(served.url);
    await tabTo(page, 'Search connections');
    await page.keyboard.type('unauthorized');
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toMatch(/^billing/);
  });

  it('a control is used, an operation is chosen, and the log is searched and read', async () => {
    const page = await open(served.url);
    await tabTo(page, 'Note it');
    await page.keyboard.press('Enter');
    await expect.poll(() => used).toEqual(['files']);

    await tabTo(page, /unknown-outcome/);
    await page.keyboard.press('Enter');
    await page.locator('.state.is-current[data-state="unknown-outcome"]').waitFor();

    await tabTo(page, 'Pause');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await tabTo(page, 'Search the log');
    await page.keyboard.type('exhausted');
    await expect.poll(() => logOf(page)).toEqual([expect.stringContaining('billing')]);
    await tabTo(page, 'Log lines');
  });

  it('the focus stays in its section when what has it goes', async () => {
    const page = await open(served.url);
    const own = supervisor.own('brief', { connect: () => Promise.reject(new Error('never')), lazy: true });
    const section = () => page.evaluate(() => document.activeElement?.closest('section')?.id);
    await rowOf(page, 'brief').click();
    await page.getByRole('button', { name: /^idle/ }).click();
    await page.getByRole('button', { name: 'Note it' }).focus();
    await own.close();
    await expect.poll(() => rowOf(page, 'brief').count()).toBe(0);
    expect(await section(), 'its control cannot be used any more').toBe('detail');
    await page.getByRole('button', { name: /^idle/ }).click();
    await page.getByRole('button', { name: 'tool answered' }).first().click();
    await page.getByRole('button', { name: 'Show the connection' }).focus();
    await page.keyboard.press('Enter');
    expect(await section()).toBe('detail');
  });

  it('the first link leads past the list', async () => {
    const page = await open(served.url);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the chosen connection');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('detail');
    expect(await page.locator('#detail h2').textContent(), 'and chooses no other').toBe('files');
  });
});

inBrowser('axe-core finds nothing wrong', (open) => {
  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    it.each([
      ['on a desk', { width: 1440, height: 900 }],
      ['on a phone', { width: 360, height: 740 }],
    ])(
      '%s',
      async (_where, viewport) => {
        const page = await open(served.url, { colorScheme, viewport });
        await page.locator('.chart').waitFor();
        for (const name of ['files', 'billing', 'slow', 'mine']) {
          await rowOf(page, name).click();
          expect(await violationsOf(page), name).toEqual([]);
        }
        await page
          .getByRole('button', { name: /unknown-outcome/ })
          .first()
          .click();
        await page.getByRole('button', { name: 'No change' }).click();
        expect(await violationsOf(page), 'an operation').toEqual([]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, 'nothing is wider than the page').toBeLessThanOrEqual(0);
      },
      60_000,
    );
  });
});

async function violationsOf(page: BrowserPage): Promise<string[]> {
  const { violations } = (await page.evaluate(`${AXE}; axe.run()`)) as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}
