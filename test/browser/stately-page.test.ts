/**
 * The page that brings a host's events to Stately's viewer. That viewer is a web site. What stands in for it here, at
 * the same address, does what its receiver does: it says that it is there, and listens.
 */
import type { StatelyInspectionEvent } from '@statelyai/inspect';
import type { WebSocketRoute } from 'playwright-core';
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { statelyInspector } from '../../src/inspect/index.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { inChromium } from './browser.ts';

const VIEWER = `<!doctype html><title>viewer</title><script>
window.seen = [];
addEventListener('message', ({ data }) => data && data._version && window.seen.push(data));
parent.postMessage({ type: '@statelyai.connected' }, '*');
</script>`;

inChromium('the page of the Stately inspector', (browser) => {
  it('hands on what has been, and what happens; comes back when it was cut off', async () => {
    await using server = await FaultServer.start();
    await using inspector = statelyInspector();
    const clientInfo = { name: 'host', version: '1.0.0' };
    await using supervisor = createSupervisor({ clientInfo, inspect: inspector });
    const files = supervisor.own('files', { transport: server.target });
    await files.ping();

    const page = await browser().newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/token=/, (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
    await page.route('https://stately.ai/inspect', (route) =>
      route.fulfill({ contentType: 'text/html', body: VIEWER }),
    );
    await page.goto((await inspector.url).href);
    const seen = async () => {
      const frame = page.frame({ url: 'https://stately.ai/inspect' });
      return (await frame?.evaluate('window.seen')) as StatelyInspectionEvent[];
    };
    const states = async () =>
      (await seen()).flatMap((event) =>
        event.type === '@xstate.snapshot' ? [JSON.stringify(Object(event.snapshot).value)] : [],
      );
    await expect.poll(() => states()).toContain('{"ready":"steady"}');
    await server.evict();
    await files.callTool({ name: 'append', arguments: { key: 'a' } });
    await expect.poll(() => states()).toContain('{"recreating":"opening"}');

    // What it was told before it was cut off, a new viewer is told again.
    await sockets[0]?.close();
    await expect.poll(() => sockets).toHaveLength(2);
    await expect.poll(() => states()).toContain('{"recreating":"opening"}');
    expect(complaints).toEqual([]);
    await page.close();
  });
});
