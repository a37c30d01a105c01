// A caller-owned session that is lost while nobody calls: found out by what a ping brings, never by silence.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/http-server.ts';
import {
  callersClient,
  expectNothingUntrue,
  expectOwnershipError,
  overheard,
  rejection,
  type Supply,
} from '../support/lent.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const listing = {
  name: 'mine',
  ownership: 'caller-client',
  method: 'tools/list',
  kind: 'discovery',
} as const;
const ofSession = (session: string | undefined) =>
  server.ledger
    .events('request')
    .filter((request) => request.session === session)
    .map(({ method }) => method);

describe.each<Supply>(['v1 client', 'v2 client'])('%s', (supply) => {
  it('by a heartbeat that gets 404: one is enough', async () => {
    await using mine = await callersClient(supply, server);
    const { supervisor, said, listen } = overheard();
    const handle = supervisor.adopt('mine', mine.client as never, { liveness: { heartbeatMs: 20 } });
    listen(handle);
    await until(() => ofSession(mine.sessionId).filter((method) => method === 'ping').length >= 2);
    expect(handle.state).toBe('ready');
    await server.evict(mine.sessionId, { silent: true });
    await until(() => handle.state === 'failed-ownership', { what: 'the loss' });
    const unknown = server.ledger.count(
      'request',
      ({ session, known }) => session === mine.sessionId && !known,
    );
    expect(unknown).toBe(1);
    const before = ofSession(mine.sessionId).length;
    expectOwnershipError(await rejection(handle.listTools()), { ...listing, ran: 'unsent' });
    await supervisor.close();
    expect(ofSession(mine.sessionId)).toHaveLength(before);
    expect(mine.touched).toEqual([]);
    expectNothingUntrue(said);
  });

  it('not by silence, however long: it is suspect, and answers again', async () => {
    await using mute = await startServer();
    await using mine = await callersClient(supply, mute);
    const { supervisor, said } = overheard();
    const handle = supervisor.adopt('mine', mine.client as never, {
      liveness: { heartbeatMs: 20, probeTimeoutMs: 40, missedProbes: 1, silenceMs: 0, busySilenceMs: 80 },
    });
    const states: string[] = [];
    handle.on('transition', ({ to }) => void states.push(to));
    mute.pause();
    await until(() => said.filter((line) => line.includes('Probe unanswered')).length >= 5);
    expect(handle.status).toMatchObject({ state: 'ready', suspectSince: expect.any(Number) });
    mute.resume();
    await handle.listTools();
    await until(() => handle.status.suspectSince === undefined, { what: 'the end of the suspicion' });
    await supervisor.close();
    expect(states).toEqual(['closing', 'closed']);
    expect(mine.touched).toEqual([]);
    expect([mute.ledger.initializes(), mute.ledger.deletes()]).toEqual([1, 0]);
    expectNothingUntrue(said);
  });

  it('by the stream for messages from the server, which the SDK gives up: one ping', async () => {
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = supervisor.adopt('mine', mine.client as never);
    await until(() => server.ledger.count('get', ({ session }) => session === mine.sessionId) > 0);
    const before = ofSession(mine.sessionId).length;
    await server.evict(mine.sessionId);
    await until(() => handle.state === 'failed-ownership', { what: 'the loss', timeoutMs: 15_000 });
    expect(ofSession(mine.sessionId).slice(before)).toEqual(['ping']);
    expectOwnershipError(await rejection(handle.listTools()), { ...listing, ran: 'unsent' });
    expect(ofSession(mine.sessionId).slice(before)).toEqual(['ping']);
    await supervisor.close();
    expect(mine.touched).toEqual([]);
  });
});
