// Who is let in, what the page may load, and that nothing secret leaves the host.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { settled } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';
import { inBrowser, rowOf } from './browser.ts';
import { eventsOf, Onlooker } from './onlooker.ts';
import { closeAfterEach, opens, serve, supervise } from './opened.ts';

const shared = sharedServer();

closeAfterEach();

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function ask(url: string | URL, { method = 'GET', headers = {} }: Asked = {}) {
  return new Promise<{ status: number | undefined; headers: Record<string, unknown>; size: number }>(
    (resolve, reject) => {
      request(url, { method, headers }, (response) => {
        let size = 0;
        response.on('data', (piece: Buffer) => {
          size += piece.length;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, size }));
      })
        .on('error', reject)
        .end();
    },
  );
}

describe('who is let in', () => {
  it('whoever has the token; to modules and styles, whoever is on this machine', async () => {
    const { url } = await serve(supervise());
    const { origin } = new URL(url);
    expect(await ask(url)).toMatchObject({ status: 200 });
    for (const path of ['/', '/page.html', '/?token=', '/events', '/events?token=x', '/control']) {
      expect(await ask(origin + path), path).toMatchObject({ status: 401 });
    }
    for (const path of ['/page.js', '/theme.css', '/connection.svg', '/lit-html/lit-html.js']) {
      expect(await ask(origin + path), path).toMatchObject({ status: 200 });
    }
  });

  it('no other host name, and no other site', async () => {
    const { url } = await serve(supervise());
    for (const address of [url, new URL('/page.js', url), eventsOf(url)]) {
      expect(await ask(address, { headers: { host: 'evil.example' } })).toMatchObject({ status: 421 });
      expect(await ask(address, { headers: { origin: 'http://evil.example' } })).toMatchObject({
        status: 403,
      });
    }
  });

  it('to files of the page only, and by no other method', async () => {
    const { url } = await serve(supervise());
    const { search } = new URL(url);
    for (const path of [
      '/../serve-page.ts',
      '/%2e%2e/hub.ts',
      '/static/page.js',
      '/lit-html/package.json',
      '/constructor',
    ]) {
      expect(await ask(new URL(path + search, url)), path).toMatchObject({ status: 404 });
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect(await ask(url, { method }), method).toMatchObject({ status: 405 });
    }
  });

  it('to controls that there are, for connections that there are', async () => {
    const used: string[] = [];
    const supervisor = supervise();
    supervisor.own('files', { connect: () => Promise.reject(new Error('never')), lazy: true });
    const { url } = await serve(supervisor, {
      controls: {
        note: { label: 'Note it', run: (connection) => void used.push(connection) },
        fail: { label: 'Fail', run: () => Promise.reject(new Error('never')) },
      },
    });
    const asked = (control: string, connection: string) => {
      const address = new URL(url);
      address.pathname = '/control';
      address.searchParams.set('control', control);
      address.searchParams.set('connection', connection);
      return address;
    };
    const post = { method: 'POST' };
    expect(await ask(asked('note', 'files'))).toMatchObject({ status: 405 });
    expect(await ask(asked('note', 'others'), post)).toMatchObject({ status: 404 });
    expect(await ask(asked('toString', 'files'), post)).toMatchObject({ status: 404 });
    expect(used).toEqual([]);
    expect(await ask(asked('note', 'files'), post)).toMatchObject({ status: 204 });
    expect(used).toEqual(['files']);
    expect(await ask(asked('fail', 'files'), post)).toMatchObject({ status: 500, size: 0 });
  });

  it('with headers that forbid the page everything that it does not need', async () => {
    const { url } = await serve(supervise());
    for (const address of [url, new URL('/page.js', url)]) {
      expect((await ask(address)).headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
    }
  });
});

inBrowser('what the page loads', (open) => {
  it('comes from its own server, and is less than 60 KB', async () => {
    const supervisor = supervise();
    supervisor.own('files', { connect: () => Promise.reject(new Error('never')), lazy: true });
    const served = await serve(supervisor);
    const page = await open(served.url);
    const loaded: string[] = [];
    page.on('request', (each) => loaded.push(each.url()));
    await page.reload();
    await rowOf(page, 'files').waitFor();
    await page.locator('.chart').waitFor();
    const { origin } = new URL(served.url);
    const elsewhere = loaded.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'));
    expect(elsewhere).toEqual([]);
    const files = loaded.filter((url) => url.startsWith(origin) && !url.includes('/events'));
    expect(files.length).toBeGreaterThan(10);
    const zipped = { headers: { 'accept-encoding': 'gzip' } };
    const sizes = await Promise.all(files.map(async (url) => (await ask(url, zipped)).size));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  });

  it('the policy holds: a script in the page itself does not run', async () => {
    const served = await serve(supervise());
    const page = await open(served.url);
    // The browser complains, as it should.
    page.removeAllListeners('console');
    const noted = page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
          const script = document.createElement('script');
          script.textContent = 'document.title = "ran"';
          document.body.append(script);
        }),
    );
    expect(await noted).toBe('script-src-elem');
    expect(await page.title()).toBe('mcp-steward');
  });
});

it('a process with a page, and one who looks on, ends by itself', async () => {
  const script = fileURLToPath(new URL('./host-process.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--import', 'tsx'] });
  const [url] = (await once(child, 'message')) as [string];
  await using onlooker = await Onlooker.of({ url });
  expect(onlooker.snapshot?.connections).toMatchObject([{ connection: 'search' }]);
  child.send('that is all');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

const SECRET = 'hunter2-s3cr3t-value';
/** Also a piece of it is too much. */
const PIECES = [SECRET, encodeURIComponent(SECRET), 's3cr3t-value'];

inBrowser('nothing secret', (open) => {
  it('of headers, query strings, environment, arguments, results and error texts reaches the page', async () => {
    const server = shared();
    const supervisor = supervise();
    const served = await serve(supervisor);
    const page = await open(served.url);
    const onlooker = await Onlooker.of(served);
    opens(onlooker);
    const call = (name: string, tool = 'append') =>
      settled(
        supervisor.connections
          .get(name)
          ?.callTool({ name: tool, arguments: { key: SECRET } }, undefined, { timeout: 5_000 }) ??
          Promise.resolve(),
      );
    const recovery = { initialBackoffMs: 1, maxBackoffMs: 1, maxAttempts: 2, coolDownMs: 60_000 };

    const url = new URL(`${server.url}?token=${SECRET}`);
    supervisor.own('http', {
      transport: { kind: 'http', url, headers: { authorization: `Bearer ${SECRET}` } },
      recovery,
    });
    expect(await call('http')).toMatchObject({ error: undefined });
    await server.fault({ kind: 'reset', when: 'after' });
    await call('http');
    await server.evict();
    await call('http');
    for (const status of [404, 404, 503, 400]) {
      await server.fault({ kind: 'status', status, body: `no ${SECRET}` });
      await call('http');
    }
    await server.fault({ kind: 'rpc-error', code: -32001, message: SECRET, data: { token: SECRET } });
    await call('http');
    await server.fault({
      kind: 'result',
      result: { content: [{ type: 'text', text: SECRET }], isError: true },
    });
    await call('http');

    const child = stdioServer({ stderr: `my token is ${SECRET}\n` });
    opens(child);
    const { command, args } = child;
    supervisor.own('stdio', {
      transport: { kind: 'stdio', command, args, env: { TOKEN: SECRET } },
      recovery,
    });
    await call('stdio');
    process.kill(child.server(), 'SIGKILL');
    await call('stdio');

    const connect = async () => {
      throw Object.assign(new Error(`connect failed for ${SECRET}`), { url: SECRET, code: SECRET });
    };
    supervisor.own('connect', { connect, recovery });
    await call('connect');

    const raw = await connectV1(url, { headers: { 'x-key': SECRET } });
    opens(raw);
    supervisor.adopt('mine', raw.client);
    await server.fault({ kind: 'status', status: 404, body: `unknown session ${SECRET}` });
    await call('mine');
    expect(supervisor.connections.get('mine')?.state).toBe('failed-ownership');

    await until(() =>
      onlooker.steps.some(({ connection, to }) => connection === 'mine' && to === 'failed-ownership'),
    );
    for (const name of ['http', 'stdio', 'connect', 'mine']) await rowOf(page, name).click();
    const late = await Onlooker.of(served);
    opens(late);
    for (const text of [onlooker.text, late.text, await page.content()]) {
      expect(text).toContain('failed-ownership');
      expect(PIECES.filter((piece) => text.includes(piece))).toEqual([]);
    }
  });
});
