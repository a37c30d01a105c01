// The page in a real browser, over a real host whose real servers are killed.
import { expect, it } from 'vitest';
import type { ConnectionHandle, OwnedConnection, Supervisor } from '../../src/index.ts';
import type { PageControls } from '../../src/inspect/page/serve-page.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { until } from '../support/until.ts';
import { inBrowser, logOf, rowOf, rowsOf, textOf } from './browser.ts';
import { closeAfterEach, opens, serve, supervise } from './opened.ts';
import { Storm, watchSmoothness } from './storm.ts';
import { watchStreams } from './streams.ts';

expectNoCrashes();
const streams = watchStreams();

closeAfterEach();

async function host(controls: PageControls = {}) {
  const server = await FaultServer.start({ transport: 'stdio' });
  opens(server);
  const supervisor = supervise();
  const files = supervisor.own('files', {
    transport: server.target,
    recovery: { initialBackoffMs: 1 },
  });
  await append(files);
  return { server, supervisor, files, served: await serve(supervisor, { controls }) };
}

/** Kills the server; resolves when the connection has noticed. */
async function lose(server: FaultServer, connection: ConnectionHandle): Promise<void> {
  await server.kill();
  await until(() => connection.state !== 'ready', { what: 'the loss' });
}

function append(connection: OwnedConnection, options?: { timeout: number }): Promise<unknown> {
  return connection.callTool({ name: 'append', arguments: { key: 'a' } }, options);
}

function lazily(supervisor: Supervisor, names: readonly string[]): void {
  for (const name of names) {
    supervisor.own(name, { connect: () => Promise.reject(new Error('never')), lazy: true });
  }
}

inBrowser('a recovery before one’s eyes', (open) => {
  it('is in the list, the chart, the log, the operations and the recoveries; and after a reload', async () => {
    const { server, files, served } = await host();
    const page = await open(served.url);
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('ready · owned · gen 1');

    await server.when('initialize', 'hold');
    await lose(server, files);
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('lost · owned · gen 1');
    const call = append(files);
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('recreating opening');
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('1 waiting');
    await expect.poll(() => textOf(page.locator('#operations li'))).toContain('awaiting');
    await server.when('initialize', 'answer');
    await call;

    const check = async () => {
      await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('ready · owned · gen 2');
      const lines = await logOf(page);
      const places = [
        'ready.steady → lost',
        'lost → recreating.backingOff',
        '→ recreating.opening',
        'recreating.opening → ready.steady',
      ];
      const found = places.map((place) => lines.findIndex((line) => line.includes(place)));
      expect(found, lines.join('\n')).not.toContain(-1);
      expect(found).toEqual(found.toSorted((one, other) => one - other));
      expect(await textOf(page.locator('#recoveries li'))).toContain('recreated on generation 2');
      expect(await textOf(page.locator('#operations li'))).toContain('answered');
      await page.locator('.state.is-current[data-state="ready.steady"]').waitFor();
      const lit = await page
        .locator('.state.is-visited')
        .evaluateAll((states) => states.map((state) => state.getAttribute('data-state')));
      expect(lit.sort()).toEqual(
        [
          'lost',
          'ready',
          'ready.steady',
          'recreating',
          'recreating.backingOff',
          'recreating.opening',
          'recreating.retiring',
        ].sort(),
      );
      const taken = await page.locator('.transition.is-visited .label').allTextContents();
      expect(taken.sort()).toEqual(['[needsNoBackoff]', 'demand', 'lost', 'open done', 'retire done']);
    };
    await check();
    await page.reload();
    await check();
  });

  it('the operation’s own chart is shown when it is chosen, and the connection’s again', async () => {
    const { server, files, served } = await host();
    const page = await open(served.url);
    await lose(server, files);
    await append(files);
    await page.getByRole('button', { name: 'tool answered' }).click();
    await page.locator('.state.is-current[data-state="answered"]').waitFor();
    await page.getByRole('button', { name: 'Show the connection' }).click();
    await page.locator('.state.is-current[data-state="ready.steady"]').waitFor();
  });

  it('is said to those who do not see it', async () => {
    const { server, files, served } = await host();
    const page = await open(served.url);
    await rowOf(page, 'files').click();
    expect(await page.locator('[aria-live]').textContent(), 'what is so when one comes is not said').toBe('');
    await lose(server, files);
    await append(files);
    await expect.poll(() => textOf(page.locator('[aria-live]'))).toBe('files: ready, steady, generation 2');
  });
});

inBrowser('a suspect connection', (open) => {
  it('is shown with the moment when that began, said, and found by a search', async () => {
    const { server, files, served } = await host();
    const page = await open(served.url);
    await rowOf(page, 'files').click();
    await server.when('tools/call', 'ignore');
    await server.when('ping', 'hold');
    const call = append(files, { timeout: 50 }).catch(() => {});
    const since = /since \d\d:\d\d:\d\d\.\d{3}, \d+ s ago/i;
    await expect.poll(() => textOf(rowOf(page, 'files'))).toMatch(new RegExp(`suspect ${since.source}`));
    await expect
      .poll(() => textOf(page.locator('#detail .figures')))
      .toMatch(new RegExp(`Suspect ${since.source}`));
    await expect.poll(() => textOf(page.locator('[aria-live]'))).toBe('files: ready, suspect, generation 1');
    await page.getByLabel('Search connections').fill('suspect');
    expect(await rowsOf(page).count()).toBe(1);
    await server.when('ping', 'answer');
    await call;
    await expect.poll(() => rowsOf(page).count()).toBe(0);
    await page.getByLabel('Search connections').fill('');
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('ready · owned');
    expect(await textOf(rowOf(page, 'files'))).not.toContain('suspect');
    expect(await textOf(page.locator('#detail .figures'))).not.toContain('Suspect');
  });
});

inBrowser('the page’s own stream', (open) => {
  it('comes back when it was cut, with what happened before and meanwhile, once each', async () => {
    const { server, files, served } = await host();
    const page = await open(served.url);
    const loseAndRegain = async () => {
      await lose(server, files);
      await append(files);
    };
    await loseAndRegain();
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('gen 2');
    streams().at(-1)?.destroy();
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    await loseAndRegain();
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('gen 3');
    const lines = await logOf(page);
    expect(lines.filter((line) => line.includes('recreating.opening → ready.steady'))).toHaveLength(2);
    expect(await page.locator('#recoveries li').count()).toBe(2);
  });

  it('a host that is gone is said to be gone, and another in its place is not taken for it', async () => {
    const { supervisor, served } = await host();
    const page = await open(served.url);
    await served.close();
    await page.locator('#stream').getByText('The host is gone').waitFor();
    await rowOf(page, 'files').waitFor();
    await serve(supervisor, { port: Number(new URL(served.url).port) });
    await page.locator('#stream').getByText('Another host listens here now').waitFor();
  });
});

inBrowser('a page that nobody sees', (open) => {
  it('leaves its connection to other tabs, and begins again when it is seen', async () => {
    const { served } = await host();
    const page = await open(served.url);
    const stream = streams().at(-1);
    const isSeen = (seen: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, !seen);
    await isSeen(false);
    await until(() => stream?.destroyed, { what: 'the end of its stream' });
    await page.getByText('Connecting', { exact: true }).waitFor();
    await isSeen(true);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(streams().at(-1)).not.toBe(stream);
  });
});

inBrowser('200 connections', (open) => {
  it('are listed, searched and filtered', async () => {
    const { supervisor, served } = await host();
    lazily(
      supervisor,
      Array.from({ length: 199 }, (_, n) => `server-${n + 1}`),
    );
    const page = await open(served.url);
    await expect.poll(() => rowsOf(page).count()).toBe(200);

    await page.getByLabel('Search connections').fill('server-19');
    await expect.poll(() => rowsOf(page).count()).toBe(11);
    await page.getByLabel('Search connections').fill('SERVER idle 199');
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await page.getByLabel('Search connections').fill('');
    await page.getByRole('button', { name: /^ready/ }).click();
    await expect.poll(() => rowsOf(page).allInnerTexts()).toEqual([expect.stringContaining('files')]);
    await page.getByRole('button', { name: /^ready/ }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(200);
  });

  it('a closed one is marked, and its name may be taken again', async () => {
    const { supervisor, files, served } = await host();
    const page = await open(served.url);
    await files.close();
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('closed');
    lazily(supervisor, ['files']);
    await expect.poll(() => textOf(rowOf(page, 'files'))).toContain('idle');
    expect(await rowsOf(page).count()).toBe(1);
  });
});

inBrowser('the log', (open) => {
  it('is filtered by kind and connection, searched, and paused', async () => {
    const { server, supervisor, files, served } = await host();
    lazily(supervisor, ['idle-one']);
    const page = await open(served.url);
    await lose(server, files);
    await append(files);
    // The second one joins the first.
    await Promise.all([files.reconnect(), files.reconnect()]);
    const lines = () => logOf(page);
    await expect.poll(lines).toContainEqual(expect.stringContaining('sending → answered'));

    await page.getByRole('button', { name: 'Operations' }).click();
    await expect.poll(lines).not.toContainEqual(expect.stringContaining('sending → answered'));
    expect(await lines()).not.toContainEqual(expect.stringContaining('(ignored)'));
    await page.getByRole('button', { name: 'Transitions' }).click();
    await page.getByRole('button', { name: 'No change' }).click();
    await expect.poll(lines).toContainEqual(expect.stringContaining('reconnect (ignored)'));
    await page.getByRole('button', { name: 'Transitions' }).click();
    await page.getByLabel('Connection', { exact: true }).selectOption('idle-one');
    await expect.poll(lines).toEqual([expect.stringContaining('idle-one')]);
    await page.getByLabel('Connection', { exact: true }).selectOption('');
    await page.getByLabel('Search the log').fill('connection-closed steady LOST');
    await expect.poll(lines).toEqual([expect.stringContaining('ready.steady → lost')]);

    await page.getByRole('button', { name: 'Pause' }).click();
    await lose(server, files);
    await append(files);
    await page.getByRole('button', { name: /Resume \(\d+ new\)/ }).waitFor();
    expect(await lines()).toHaveLength(1);
    await page.getByRole('button', { name: /Resume/ }).click();
    await expect.poll(lines).toHaveLength(2);
  });
});

inBrowser('what has gone', (open) => {
  it('stays in the filter of the log that it was chosen for', async () => {
    const { supervisor, served } = await host();
    lazily(supervisor, ['other']);
    const page = await open(served.url);
    const filter = page.getByLabel('Connection', { exact: true });
    await filter.selectOption('files');
    // Fifty others that have been closed take its place.
    await supervisor.connections.get('files')?.close();
    for (let n = 0; n < 50; n++) {
      lazily(supervisor, [`c${n}`]);
      await supervisor.connections.get(`c${n}`)?.close();
    }
    await expect.poll(() => rowOf(page, 'files').count()).toBe(0);
    expect(await filter.inputValue()).toBe('files');
    await filter.selectOption('');
    await expect.poll(() => logOf(page)).toContainEqual(expect.stringContaining('c49'));
  });

  it('leaves the last operations that have ended, whenever they began', async () => {
    const { server, files, served } = await host();
    const page = await open(served.url);
    await server.when('initialize', 'hold');
    await lose(server, files);
    const abort = new AbortController();
    const first = files.ping().catch(() => {});
    const others = Array.from({ length: 50 }, () =>
      files.listTools({}, { signal: abort.signal }).catch(() => {}),
    );
    await expect.poll(() => page.locator('#operations h2').textContent()).toMatch(/51/);
    abort.abort();
    await Promise.all(others);
    await server.when('initialize', 'answer');
    await first;
    await expect.poll(() => textOf(page.locator('#operations li').first())).toContain('liveness answered');
    expect(await page.locator('#operations li').count()).toBe(50);
  });

  it('is said of a host, to those who do not see it', async () => {
    const { served } = await host();
    const page = await open(served.url);
    await served.close();
    await expect.poll(() => textOf(page.locator('[aria-live]'))).toContain('The host is gone');
  });
});

inBrowser('on a phone', (open) => {
  it('what is chosen is brought into view', async () => {
    const supervisor = supervise();
    lazily(
      supervisor,
      Array.from({ length: 30 }, (_, n) => `server-${n + 1}`),
    );
    const served = await serve(supervisor);
    const page = await open(served.url, { viewport: { width: 360, height: 640 } });
    const title = page.locator('#detail-title');
    await expect.poll(() => title.isVisible()).toBe(true);
    await rowOf(page, 'server-3').click();
    await expect.poll(() => title.textContent()).toBe('server-3');
    await expect.poll(async () => (await title.boundingBox())?.y ?? Infinity).toBeLessThan(200);
  });
});

inBrowser('a chart that could not be fetched', (open) => {
  it('is asked for again', async () => {
    const { served } = await host();
    const page = await open(served.url);
    let refused = 0;
    await page.route('**/connection.svg', (route) => (refused++ === 0 ? route.abort() : route.continue()));
    await page.reload();
    await page.locator('.state.is-current[data-state="ready.steady"]').waitFor();
    expect(refused).toBeGreaterThan(1);
  });
});

inBrowser('controls', (open) => {
  it('run on the host, and one that fails only says that it did', async () => {
    const asked: string[] = [];
    const { served } = await host({
      note: { label: 'Note it', run: (connection) => void asked.push(connection) },
      fail: { label: 'Fail', run: () => Promise.reject(new Error('a secret')) },
    });
    const page = await open(served.url);
    await page.getByRole('button', { name: 'Note it' }).click();
    await page.getByText('Note it: done').first().waitFor();
    expect(asked).toEqual(['files']);
    await page.getByRole('button', { name: 'Fail' }).click();
    await page.getByText('Fail: failed').first().waitFor();
    expect(await page.content()).not.toContain('a secret');
  });
});

inBrowser('a thousand transitions a second', (open) => {
  it('leave the page as small as before, and the list as the host is', async () => {
    const supervisor = supervise();
    const storm = await Storm.over(supervisor, 20);
    opens(storm);
    const served = await serve(supervisor);
    const page = await open(served.url);
    const smoothness = await watchSmoothness(page);
    await storm.blow({ perSecond: 1_000, seconds: 1 });
    for (const { name, generation } of supervisor.connections.values()) {
      await expect
        .poll(() => textOf(rowOf(page, name)))
        .toContain(`ready · caller's client · gen ${generation}`);
    }
    await expect.poll(() => page.locator('#log h2').textContent()).toMatch(/Log \d{3,4}\b/);
    expect(await page.locator('#log li').count()).toBe(150);
    expect((await smoothness()).frames, 'it was drawn all the while').toBeGreaterThan(5);
  });

  it('and more than can be shown are counted', async () => {
    const supervisor = supervise();
    const served = await serve(supervisor);
    const page = await open(served.url);
    lazily(
      supervisor,
      Array.from({ length: 500 }, (_, n) => `at-once-${n}`),
    );
    await page.getByText('300 lines came too fast to be shown.').waitFor();
    await expect.poll(() => rowsOf(page).count()).toBe(500);
  });
});
