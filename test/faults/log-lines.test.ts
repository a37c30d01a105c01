/** The log has one line for each transition and each decision, in the order in which they were made. */
import { expect, it } from 'vitest';
import { createSupervisor, type Logger } from '../../src/index.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

interface Line {
  readonly level: string;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function open(lines: Line[]) {
  const at = (level: string) => (fields: object, text: string) =>
    void lines.push({ level, text, fields: fields as Line['fields'] });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' }, logger });
}

const RECOVERY = { initialBackoffMs: 1, maxBackoffMs: 1, maxAttempts: 3, coolDownMs: 60_000 };

/** `warn Connection lost`, and for a transition where it went. */
const brief = ({ level, text, fields }: Line) => `${level} ${text}${fields.to ? ` ${fields.to}` : ''}`;

it('a session that is forgotten: lost, recreated, sent again', async () => {
  await using server = await FaultServer.start();
  const lines: Line[] = [];
  await using supervisor = open(lines);
  const files = supervisor.own('files', { transport: server.target, recovery: RECOVERY });
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  await server.evict();
  lines.length = 0;
  await files.callTool({ name: 'append', arguments: { key: 'b' } });
  await until(() => lines.some(({ text }) => text === 'Operation answered after trouble'));
  expect(lines.map(brief)).toEqual([
    'debug Connection state changed lost',
    'warn Connection lost',
    'debug Connection state changed recreating',
    'debug Operation waits for the connection',
    'debug Connection state changed ready',
    'debug Operation sent again',
    'info Connection recreated',
    'debug Operation answered after trouble',
  ]);
  expect(lines.find(({ text }) => text === 'Operation sent again')?.fields).toMatchObject({
    connection: 'files',
    generation: 2,
    method: 'tools/call',
    kind: 'tool',
    cause: 'session-unknown',
    execution: 'none',
  });
});

it('an answer that is lost: not sent again, and said so', async () => {
  await using server = await FaultServer.start();
  const lines: Line[] = [];
  await using supervisor = open(lines);
  const files = supervisor.own('files', { transport: server.target, recovery: RECOVERY });
  await files.ping();
  await server.when('tools/call', 'lose-answer');
  lines.length = 0;
  await settled(files.callTool({ name: 'append', arguments: { key: 'a' } }));
  expect(lines.map(brief)).toContain('warn Operation given up: the server may have run it');
  expect(lines.map(brief)).not.toContain('debug Operation sent again');
  expect(server.counts().executions).toEqual({ a: 1 });
});

it('a server that stays away: each dial that failed, and that nothing more is tried', async () => {
  await using server = await FaultServer.start();
  const lines: Line[] = [];
  await using supervisor = open(lines);
  const files = supervisor.own('files', { transport: server.target, recovery: RECOVERY });
  await files.ping();
  await server.kill();
  lines.length = 0;
  await settled(files.listTools());
  const dials = lines.filter(({ text }) => text === 'Dial failed');
  expect(dials.map(({ fields }) => [fields.attempt, fields.cause])).toEqual([
    [2, 'unreachable'],
    [3, 'unreachable'],
  ]);
  expect(lines.map(brief)).toContain('warn Connection state changed exhausted');
  expect(lines.at(-1)).toMatchObject({ text: 'Operation given up: there is no usable connection' });
});
