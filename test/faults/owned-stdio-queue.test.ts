// The stdio transport alone: what the end of each `send` says about its message.

import { describe, expect, it, onTestFinished } from 'vitest';
import { UNWRITTEN, WRITE_CUT } from '../../src/evidence/stdio.ts';
import { StdioTransport } from '../../src/transports/stdio.ts';
import { killAndSee } from '../support/kill-and-see.ts';
import { lineCounter } from '../support/line-counter.ts';
import { descendants } from '../support/processes.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
/** More than a pipe holds. */
const LARGE = 5_000_000;

interface Started {
  readonly transport: StdioTransport;
  readonly pid: number;
  /** How long the lines were that the child has read. */
  readonly lengths: number[];
  /** What was heard, in order: how each `send` ended, and `close`. */
  readonly heard: string[];
  /** Sends a message of so many bytes and a few. */
  send(bytes: number): Promise<string>;
}

async function start(closeLimitMs = 3_000): Promise<Started> {
  const transport = new StdioTransport(lineCounter, closeLimitMs);
  const before = descendants(process.pid);
  const heard: string[] = [];
  const lengths: number[] = [];
  transport.onmessage = (message) =>
    lengths.push((message as never as { params: { length: number } }).params.length);
  transport.onclose = () => heard.push('close');
  await transport.start();
  onTestFinished(async () => {
    await transport.end('kill');
  });
  const [pid = 0] = descendants(process.pid).filter((each) => !before.includes(each));
  const send = async (bytes: number): Promise<string> => {
    const message = { jsonrpc: '2.0', method: 'x'.repeat(bytes) } as const;
    const end = await transport.send(message).then(
      () => 'written',
      ({ code, message: text }: Error & { code?: string }) => code ?? text,
    );
    heard.push(end);
    return end;
  };
  return { transport, pid, lengths, heard, send };
}

describe('a write that fails', () => {
  it.each([10, LARGE])('at its first try, of %i bytes: nothing was written', async (bytes) => {
    const { pid, send } = await start();
    killAndSee(pid);
    expect(await send(bytes)).toBe(UNWRITTEN);
    expect(await send(bytes)).toBe(UNWRITTEN);
  });

  it('after its first bytes: it may have been read; what waits behind it was not', async () => {
    const { pid, send } = await start();
    process.kill(pid, 'SIGSTOP');
    const small = send(10);
    const ends = [send(LARGE), send(10), send(LARGE), send(10)];
    expect(await small).toBe('written');
    process.kill(pid, 'SIGKILL');
    expect(await Promise.all(ends)).toEqual([WRITE_CUT, UNWRITTEN, UNWRITTEN, UNWRITTEN]);
  });

  it('is heard before the close, with the exit code', async () => {
    const { transport, pid, send, heard } = await start();
    process.kill(pid, 'SIGSTOP');
    const ends = [send(LARGE), send(10)].map((end) => end.then(() => transport.processEnd?.signal));
    process.kill(pid, 'SIGKILL');
    expect(await Promise.all(ends)).toEqual(['SIGKILL', 'SIGKILL']);
    await until(() => heard.includes('close'));
    expect(heard).toEqual([WRITE_CUT, UNWRITTEN, 'close']);
    expect(await send(10)).toBe('Not connected');
  });
});

it('a message that cannot be serialised is rejected alone', async () => {
  const { transport, send, lengths } = await start();
  const before = send(LARGE);
  const bad = transport.send({ jsonrpc: '2.0', method: 'x', params: { n: 1n as never } });
  const after = send(10);
  await expect(bad).rejects.toThrow(TypeError);
  expect(await Promise.all([before, after])).toEqual(['written', 'written']);
  await until(() => lengths.length === 2);
});

it('50 MB and a thousand messages arrive whole and in order', async () => {
  const { send, lengths } = await start();
  const sizes = [10, 50_000_000, ...Array.from({ length: 1_000 }, (_, n) => (n * 37) % 2_000)];
  const ends = await Promise.all(sizes.map(send));
  expect(new Set(ends)).toEqual(new Set(['written']));
  await until(() => lengths.length === sizes.length);
  const rest = JSON.stringify({ jsonrpc: '2.0', method: '' }).length;
  expect(lengths).toEqual(sizes.map((size) => size + rest));
});

describe('close()', () => {
  it('ends stdin after what waits, if the child reads it', async () => {
    const { transport, send, lengths, heard } = await start(MINUTE);
    const sizes = [LARGE, 10, LARGE, 10];
    const ends = sizes.map(send);
    await transport.close();
    expect(await Promise.all(ends)).toEqual(['written', 'written', 'written', 'written']);
    expect(lengths.length).toBe(4);
    expect(heard.at(-1)).toBe('close');
    expect(transport.processEnd).toMatchObject({ exitCode: 0, signal: null });
  });

  it('ends stdin at once if nothing waits', async () => {
    const { transport } = await start(MINUTE);
    await transport.close();
    expect(transport.processEnd).toMatchObject({ exitCode: 0, signal: null });
  });

  it('leaves no send pending if the child does not read', async () => {
    const { transport, pid, send, heard } = await start(150);
    process.kill(pid, 'SIGSTOP');
    const ends = [send(LARGE), send(10), send(10)];
    await transport.close();
    expect(await Promise.all(ends)).toEqual([WRITE_CUT, UNWRITTEN, UNWRITTEN]);
    expect(heard).toEqual([WRITE_CUT, UNWRITTEN, UNWRITTEN, 'close']);
  });

  it('takes no message after it', async () => {
    const { transport, send, lengths } = await start(MINUTE);
    const before = send(LARGE);
    const closing = transport.close();
    expect(await send(10)).toBe(UNWRITTEN);
    await closing;
    expect(await before).toBe('written');
    expect(lengths.length).toBe(1);
    expect(await send(10)).toBe('Not connected');
  });

  it('before the start: there is nothing to send to', async () => {
    const transport = new StdioTransport(lineCounter, 1_000);
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('Not connected');
    await transport.close();
  });
});
