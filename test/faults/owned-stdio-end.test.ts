// The stdio transport alone: how a process tree is ended, and what is said of what is left.

import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type StdioDescription, StdioTransport } from '../../src/transports/stdio.ts';
import { killAndSee } from '../support/kill-and-see.ts';
import { groupOf, isAlive } from '../support/processes.ts';
import { type StdioServer, type StdioServerOptions, stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

async function start(description: StdioDescription): Promise<StdioTransport> {
  const transport = new StdioTransport(description, MINUTE);
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await transport.end('kill');
  });
  await transport.start();
  return transport;
}

async function startServer(server: StdioServer): Promise<StdioTransport> {
  const transport = await start(server);
  await until(() => server.ledger.count('spawn') === 1);
  return transport;
}

type Signal = NodeJS.Signals | 0;

/** These signals to a group are met with this instead; returns those that were sent. */
function meet(signals: readonly Signal[], how: (group: number) => void = () => {}): Signal[] {
  const sent: Signal[] = [];
  const kill = process.kill.bind(process);
  vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    if (pid > 0 || !signals.includes(signal as Signal)) return kill(pid, signal);
    sent.push(signal as Signal);
    how(-pid);
    return true;
  });
  return sent;
}

describe('kill', () => {
  it.each<[string, StdioServerOptions]>([
    ['a stubborn server', { stubborn: true }],
    ['a stubborn server behind a leader', { stubborn: true, wrapper: 'exec-child' }],
  ])('ends %s without asking it', async (_what, options) => {
    await using server = stdioServer(options);
    const transport = await startServer(server);
    expect(await transport.end('kill')).toEqual([]);
    expect(server.alive()).toEqual([]);
    expect(server.ledger.count('sigterm')).toBe(0);
  });

  it('ends what a dead leader has left behind', async () => {
    await using server = stdioServer({ stubborn: true, wrapper: 'exec-child' });
    const transport = await startServer(server);
    killAndSee(server.leader());
    expect(server.alive()).toEqual([server.server()]);
    expect(await transport.end('kill')).toEqual([]);
    expect(server.alive()).toEqual([]);
    expect(server.ledger.count('sigterm')).toBe(0);
  });

  it('does not wait for the time of who was asked', async () => {
    await using server = stdioServer({ stubborn: true });
    const transport = await startServer(server);
    const asked = transport.close();
    const killed = transport.end('kill');
    const joined = transport.end('ask');
    expect(await Promise.all([asked, killed, joined])).toEqual([undefined, [], []]);
    expect(server.alive()).toEqual([]);
    expect(server.ledger.count('sigterm')).toBe(0);
  });
});

describe('ask', () => {
  it('goes from the end of stdin to SIGTERM to SIGKILL, once for all who ask', async () => {
    await using server = stdioServer({ stubborn: true });
    const transport = await startServer(server);
    const ends = await Promise.all([transport.end('ask', 600), transport.end('ask'), transport.close()]);
    expect(ends).toEqual([[], [], undefined]);
    expect(server.alive()).toEqual([]);
    expect(server.ledger.count('sigterm')).toBe(1);
    expect(await transport.end('ask')).toEqual([]);
  });

  it('what a dead leader has left behind is told at once: nobody would ask it', async () => {
    await using server = stdioServer({ stubborn: true, wrapper: 'exec-child' });
    const transport = await startServer(server);
    killAndSee(server.leader());
    await until(() => transport.processEnd?.signal === 'SIGKILL');
    const asked = transport.end('ask');
    await until(() => server.ledger.count('sigterm') === 1);
    await transport.end('kill');
    expect(await asked).toEqual([]);
  });

  it('signals nobody if the end of stdin was enough', async () => {
    await using server = stdioServer({ wrapper: 'exec-child' });
    const transport = await startServer(server);
    const sent = meet(['SIGTERM', 'SIGKILL']);
    expect(await transport.end('ask')).toEqual([]);
    expect(sent).toEqual([]);
    expect(server.alive()).toEqual([]);
  });
});

describe('a group that is gone is not signalled again: its number may be given to another', () => {
  it('when its leader was seen to exit', async () => {
    await using server = stdioServer();
    const transport = await startServer(server);
    await transport.close();
    const sent = meet([0, 'SIGTERM', 'SIGKILL']);
    expect(await transport.end('kill')).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('when Node has not heard of its exit', async () => {
    await using server = stdioServer();
    const transport = await startServer(server);
    const sent = meet(['SIGKILL'], killAndSee);
    expect(await transport.end('kill', 0)).toEqual([]);
    expect(await transport.end('kill', 0)).toEqual([]);
    expect(sent).toEqual(['SIGKILL']);
  });
});

describe('what still runs when the time has passed', () => {
  it('is named, and another call kills it', async () => {
    await using server = stdioServer({ stubborn: true, wrapper: 'exec-child' });
    const transport = await startServer(server);
    const pids = [server.leader(), server.server()].toSorted((a, b) => a - b);
    meet(['SIGTERM', 'SIGKILL']);
    expect(await transport.end('kill', 50)).toEqual(pids);
    expect(await transport.end('ask', 50)).toEqual(pids);
    vi.restoreAllMocks();
    expect(await transport.end('ask')).toEqual([]);
    expect(server.alive()).toEqual([]);
    expect(server.ledger.count('sigterm'), 'it had its time').toBe(0);
  });

  it('is named without its dead leader', async () => {
    await using server = stdioServer({ stubborn: true, wrapper: 'exec-child' });
    const transport = await startServer(server);
    killAndSee(server.leader());
    meet(['SIGTERM', 'SIGKILL']);
    expect(await transport.end('ask', 50)).toEqual([server.server()]);
    vi.restoreAllMocks();
    expect(await transport.end('kill')).toEqual([]);
  });

  it('is named where it belongs to another user', async () => {
    await using server = stdioServer({ stubborn: true, wrapper: 'exec-child' });
    const transport = await startServer(server);
    killAndSee(server.leader());
    meet([0, 'SIGTERM', 'SIGKILL'], () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    expect(await transport.end('kill', 50)).toEqual([server.server()]);
  });
});

describe('a zombie in the group is gone', () => {
  /** A member whose parent has left the group, and does not look when it dies. */
  const say = (what: string) => `printf '{"jsonrpc":"2.0","method":"${what}","params":{"pid":%d}}\\n' $!`;
  const quiet = '>/dev/null 2>&1';
  const script = `( sleep 60 ${quiet} & ${say('member')}; exec setsid sleep 60 ${quiet} ) & ${say('parent')}; exec cat`;

  async function startWithMember() {
    const pids: Record<string, number> = {};
    const transport = new StdioTransport({ command: 'sh', args: ['-c', script] }, MINUTE);
    transport.onmessage = (message) => {
      const { method, params } = message as never as { method: string; params: { pid: number } };
      pids[method] = params.pid;
    };
    await transport.start();
    await until(() => Object.keys(pids).length === 2);
    const { member = 0, parent = 0 } = pids;
    onTestFinished(async () => {
      await transport.end('kill');
      process.kill(parent, 'SIGKILL');
    });
    await until(() => groupOf(parent) === parent, { what: 'the parent to leave the group' });
    return { transport, member };
  }

  it.each(['ask', 'kill'] as const)('%s: it was one before', async (how) => {
    const { transport, member } = await startWithMember();
    process.kill(member, 'SIGKILL');
    await until(() => !isAlive(member));
    expect(await transport.end(how)).toEqual([]);
    expect(existsSync(`/proc/${member}`), 'it is still a zombie').toBe(true);
  });

  it('it becomes one', async () => {
    const { transport, member } = await startWithMember();
    expect(await transport.end('kill')).toEqual([]);
    expect(isAlive(member)).toBe(false);
    expect(existsSync(`/proc/${member}`), 'it is still a zombie').toBe(true);
  });
});
