/** Chromium for the tests of the page. Where there is none they are skipped, but not in the gate. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { hasChromium, launchChromium, NO_CHROMIUM } from './chromium.ts';

export type OpenPage = (url: string, options?: BrowserContextOptions) => Promise<Page>;

/** Starts one for these tests. */
export function inChromium(name: string, tests: (browser: () => Browser) => void): void {
  const isMissing = !hasChromium();
  if (isMissing) console.warn(NO_CHROMIUM);
  // Beside other tests on two cores, a browser needs seconds for what takes it milliseconds alone.
  describe.skipIf(isMissing && process.env.CI === undefined)(name, { timeout: 60_000 }, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());
    tests(() => browser);
  });
}

/** `tests` is given what opens a page; each that it opens is closed after its test, and must not have complained. */
export function inBrowser(name: string, tests: (open: OpenPage) => void): void {
  inChromium(name, (browser) => {
    const complaints: string[] = [];
    afterEach(async () => {
      for (const context of browser().contexts()) await context.close();
      expect(complaints.splice(0), 'what the page wrote to the console').toEqual([]);
    });

    tests(async (url, options = {}) => {
      const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, ...options });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        // That its own stream was cut is what some tests are about.
        if (!/net::ERR_|status of 4\d\d|status of 500/.test(message.text())) complaints.push(message.text());
      });
      await page.goto(url);
      await page.getByText('Live', { exact: true }).waitFor();
      return page;
    });
  });
}

/** The connections in the list. */
export function rowsOf(page: Page): Locator {
  return page.locator('#connections [role=option]');
}

/** One of them. */
export function rowOf(page: Page, name: string): Locator {
  return page.locator(`#connections [data-name="${name}"]`);
}

/** As it is read, without the blanks between the lines; empty when there is nothing. */
export async function textOf(locator: Locator): Promise<string> {
  const texts = await locator.allInnerTexts();
  return texts.join(' ').replace(/\s+/g, ' ');
}

/** The lines of the log from the oldest to the latest. */
export async function logOf(page: Page): Promise<string[]> {
  const lines = await page.locator('#log li').allInnerTexts();
  return lines.map((line) => line.replace(/\s+/g, ' ')).reverse();
}
