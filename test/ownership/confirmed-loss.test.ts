// Answers that may mean a forgotten session: exactly one ping tells, and after it nothing is sent.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERY_OPERATION, NOT_IN_2026 } from '../support/every-operation.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer, type UnknownSessionStyle } from '../support/http-server.ts';
import {
  CallersClient,
  callersClient,
  expectNothingUntrue,
  expectOwnershipError,
  lend,
  overheard,
  ownershipOf,
  rejection,
  type Supply,
} from '../support/lent.ts';
import { connectV2 } from '../support/raw-client.ts';

const SUPPLIES: Supply[] = ['v1 client', 'v2 client', 'v1 session', 'v2 session'];
const tool = { method: 'tools/call', kind: 'tool' } as const;
const append = (key: string) => ({ name: 'append', arguments: { key } });

/** How servers answer for a session that they do not know, and what that proves (facts, sections 2a and 4). */
const STYLES: { style: UnknownSessionStyle; pings: 0 | 1; ran: 'unrun' | 'unknown' }[] = [
  { style: '404-json', pings: 0, ran: 'unrun' },
  { style: '404-html', pings: 0, ran: 'unrun' },
  { style: '404-empty', pings: 0, ran: 'unrun' },
  { style: '404-32002', pings: 0, ran: 'unrun' },
  { style: '404-32600', pings: 0, ran: 'unrun' },
  { style: '410', pings: 0, ran: 'unrun' },
  { style: '400-no-valid-session', pings: 1, ran: 'unrun' },
  { style: '400-not-initialized', pings: 1, ran: 'unrun' },
  { style: '400-other', pings: 1, ran: 'unknown' },
  { style: 'inband-32001', pings: 1, ran: 'unknown' },
];

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each(SUPPLIES)('%s', (supply) => {
  const ownership = ownershipOf(supply);

  it.each(STYLES)('$style for an unknown session', async ({ style, pings, ran }) => {
    await using mine = await callersClient(supply, server);
    const { supervisor, said, listen } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    listen(handle);
    await server.unknownSession(style);
    await server.evict(undefined, { silent: true });
    server.ledger.clear();

    const error = await rejection(handle.callTool(append(style)));

    expectOwnershipError(error, { name: 'mine', ownership, ...tool, ran });
    const methods = () => server.ledger.events('request').map(({ method }) => method);
    const sent = ['tools/call', ...(pings ? ['ping'] : [])];
    expect(methods()).toEqual(sent);
    for (const later of EVERY_OPERATION) {
      expectOwnershipError(await rejection(later.call(handle)), {
        name: 'mine',
        ownership,
        ...later,
        ran: 'unsent',
      });
    }
    expect(methods()).toEqual(sent);
    await supervisor.close();
    expect(server.ledger.initializes() + server.ledger.deletes() + server.ledger.runs()).toBe(0);
    expect(mine.touched).toEqual([]);
    expectNothingUntrue(said);
  });

  it.each<UnknownSessionStyle>(['500', '503'])('%s for an unknown session proves nothing', async (style) => {
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    await server.unknownSession(style);
    await server.evict(undefined, { silent: true });
    const error = await rejection(handle.callTool(append(style)));
    expect(mine.thrown).toContain(error);
    expect(handle.state).toBe('ready');
    await supervisor.close();
  });

  it('a server that is down: one request and its probe are refused, then none is made', async () => {
    await using proxy = await startProxy(server.port);
    await using mine = await callersClient(supply, { url: proxy.url() });
    const { supervisor, said, listen } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    listen(handle);
    server.ledger.clear();
    await proxy.refuse();
    expectOwnershipError(await rejection(handle.callTool(append('down'))), {
      name: 'mine',
      ownership,
      ...tool,
      ran: 'unrun',
    });
    await proxy.reopen();
    const posts = proxy.posts();
    for (const later of EVERY_OPERATION) {
      expectOwnershipError(await rejection(later.call(handle)), {
        name: 'mine',
        ownership,
        ...later,
        ran: 'unsent',
      });
    }
    expect(proxy.posts()).toBe(posts);
    await supervisor.close();
    expect(server.ledger.count('request') + server.ledger.deletes()).toBe(0);
    expect(mine.touched).toEqual([]);
    expectNothingUntrue(said);
  });

  it('a single refused connection is no loss', async () => {
    await using proxy = await startProxy(server.port);
    await using mine = await callersClient(supply, { url: proxy.url() });
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    await proxy.cutNextConnection('rst');
    const error = await rejection(handle.callTool(append('once')));
    expect(mine.thrown).toContain(error);
    expect(handle.state).toBe('ready');
    expect(await handle.callTool(append('once'))).toHaveProperty('content');
    await supervisor.close();
  });
});

// At this revision there is no session to lose and no ping: `discover` is the sign of life.
describe.each<Supply>(['2026 client', '2026 session'])('%s', (supply) => {
  it('a server that is down loses nothing: the error is the SDK’s, and the client goes on when it is back', async () => {
    await using modern = await startServer({ transport: 'modern' });
    await using mine = await callersClient(supply, modern);
    const { supervisor, said, listen } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    listen(handle);
    await modern.restart();
    expect(await handle.callTool(append('restarted'))).toHaveProperty('content');
    expect(modern.ledger.runs('restarted')).toBe(1);
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });

    await modern.kill();
    expect(mine.thrown).toContain(await rejection(handle.callTool(append('down'))));
    expect(mine.thrown).toContain(await rejection(handle.listTools()));
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    await modern.start();
    modern.ledger.clear();
    expect(await handle.callTool(append('back'))).toHaveProperty('content');
    expect([modern.ledger.count('request'), modern.ledger.runs('down')]).toEqual([1, 0]);
    await supervisor.close();
    expect(mine.touched).toEqual([]);
    expectNothingUntrue(said);
  });

  it('a second request of one call that is refused proves nothing about the first', async () => {
    await using modern = await startServer({ transport: 'modern' });
    await using proxy = await startProxy(modern.port);
    const raw = await connectV2({ url: proxy.url() }, '2026-07-28', { elicitation: true });
    raw.client.setRequestHandler('elicitation/create', async () => {
      await proxy.refuse();
      return { action: 'accept', content: { ok: true } };
    });
    await using mine = new CallersClient(raw.client);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const error = await rejection(handle.callTool({ name: 'elicit', arguments: { key: 'legs' } }));
    expect(mine.thrown).toContain(error);
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    expect([modern.ledger.runs('legs'), modern.ledger.requests('tools/call')]).toEqual([1, 1]);
    await supervisor.close();
  });

  it('what the revision does not have is refused by the SDK, and is no loss', async () => {
    await using modern = await startServer({ transport: 'modern' });
    await using mine = await callersClient(supply, modern);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    modern.ledger.clear();
    for (const operation of EVERY_OPERATION) {
      if (!NOT_IN_2026.includes(operation.method)) {
        await operation.call(handle);
        continue;
      }
      expect(await rejection(operation.call(handle))).toMatchObject({
        code: 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION',
      });
    }
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(modern.ledger.requests('ping') + modern.ledger.requests('server/discover')).toBe(0);
    await supervisor.close();
  });
});
