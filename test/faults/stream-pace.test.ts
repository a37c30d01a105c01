// Owned, Streamable HTTP: a server that ends its streams at once is not asked again without end; one that behaves is
// not slowed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { hostOf, ONE_HOST_OF_EACH } from '../support/hosts.ts';
import { type OddExchange, type OddOptions, OddServer, rightAnswer } from '../support/odd-server.ts';
import { settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const MINUTE = { timeout: 60_000 };
const AT_ONCE_MS = 3_000;
const NEVER = ['2147483648', '1000000000000', '9'.repeat(400)];
const notification = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'x' },
};
const message = (id = '') => `${id && `id: ${id}\n`}data: ${JSON.stringify(notification)}\n\n`;

/** An event stream with this text, and its end. */
function stream({ res }: OddExchange, text: string, how: 'end' | 'break' = 'end'): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (how === 'end') res.end(text);
  else res.write(text, () => res.destroy());
}

interface Got {
  readonly at: number;
  readonly lastEventId: string | undefined;
}

const servers: OddServer[] = [];
afterAll(async () => {
  await Promise.all(servers.splice(0).map((server) => server[Symbol.asyncDispose]()));
});

/** `gets`: the GETs that came, each with the time. */
async function start(options: OddOptions) {
  const gets: Got[] = [];
  const server = await new OddServer().start({
    ...options,
    first: ({ method, headers }) => {
      const lastEventId = headers['last-event-id'] as string | undefined;
      if (method === 'GET') gets.push({ at: performance.now(), lastEventId });
      return false;
    },
  });
  servers.push(server);
  return { server, gets };
}

/** Between each GET and the next. */
const gaps = (gets: readonly Got[]) => gets.slice(1).map(({ at }, i) => at - gets[i]!.at);

/** A call's answer stream that ends after an event, and its resumes, which this ends in turn. */
const polled = (
  resume: (exchange: OddExchange) => void,
  first = 'retry: 0\nid: 1\ndata: \n\n',
): OddOptions => ({
  answer: (exchange) => stream(exchange, first),
  resume,
});

describe.concurrent.each(ONE_HOST_OF_EACH)('%s', (kind) => {
  describe('a GET stream that ends at once', () => {
    it.each([
      ['with `retry: 0`', 'retry: 0\n\n', 'end'],
      ['with a comment', 'retry: 0\n: comment\n\n', 'end'],
      ['with an empty event', 'retry: 0\ndata: \n\n', 'end'],
      ['with an event that is no message', 'retry: 0\ndata: hello\n\n', 'end'],
      ['with an id that repeats', 'retry: 0\nid: 1\ndata: \n\n', 'end'],
      ['by a cut', 'retry: 0\n\n', 'break'],
    ] as const)('%s: at a growing pace, with a probe each time at most', async (_what, text, how) => {
      const again = (exchange: OddExchange) => stream(exchange, text, how);
      const { server, gets } = await start({ listen: again, resume: again });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 5);
      // 100 + 200 + 400, at least: where there is an id, the first time it is new.
      expect(gets[4]!.at - gets[0]!.at).toBeGreaterThan(680);
      expect(server.count('ping')).toBeLessThanOrEqual(how === 'break' ? 5 : 0);
      expect(host.handle.generation).toBe(1);
    });

    it.each(['', 'retry: -1', 'retry: 0.5', 'retry: soon', 'retry: 1500'])(
      '%j: no sooner than the SDK would',
      async (line) => {
        const { server, gets } = await start({ listen: (exchange) => stream(exchange, `${line}\n\n`) });
        await using host = hostOf(kind, server.url);
        await host.handle.ready();
        await until(() => gets.length >= 2);
        expect(gaps(gets)[0]).toBeGreaterThan(line === 'retry: 1500' ? 1_450 : 950);
        expect(gaps(gets)[0]).toBeLessThan(AT_ONCE_MS);
      },
    );

    it.each(NEVER)('`retry: %s`: it is not asked for again', async (retry) => {
      const once = await start({ listen: (exchange) => stream(exchange, `retry: ${retry}\n\n`) });
      const often = await start({ listen: (exchange) => stream(exchange, 'retry: 0\n\n') });
      await using host = hostOf(kind, once.server.url);
      await using other = hostOf(kind, often.server.url);
      await host.handle.ready();
      await until(() => once.gets.length > 0);
      await other.handle.ready();
      await until(() => often.gets.length >= 4);
      expect(once.gets).toHaveLength(1);
      expect(once.server.count('ping')).toBe(0);
      await host.handle.callTool({ name: 't' }, undefined, MINUTE);
    });

    it('any message resets the pace, and a stream that brings one each time is not slowed', async () => {
      let text = 'retry: 0\n\n';
      const { server, gets } = await start({ listen: (exchange) => stream(exchange, text) });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 4);
      text = message();
      await until(() => gets.length >= 30);
      // At the pace before, or at the first pause each, it would take 2.5 s and more.
      expect(gets[29]!.at - gets[5]!.at).toBeLessThan(2_000);
      text = '\n';
      const quiet = gets.length;
      await until(() => gets.length >= quiet + 4);
      const since = gaps(gets.slice(quiet)).slice(0, 3);
      expect(Math.max(...since)).toBeGreaterThan(180);
    });

    it('new event ids without a message: ten times a second at most, the first at once', async () => {
      let id = 0;
      const again = (exchange: OddExchange) => stream(exchange, `retry: 0\nid: ${++id}\ndata: \n\n`);
      const { server, gets } = await start({ listen: again, resume: again });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 8);
      expect(gets[7]!.at - gets[1]!.at).toBeGreaterThan(560);
      expect(gets[7]!.at - gets[1]!.at).toBeLessThan(AT_ONCE_MS);
    });

    it('a stream that lived for a while is reopened as the SDK would', async () => {
      const { server, gets } = await start({
        listen: (exchange) => {
          exchange.events();
          exchange.res.write('retry: 0\n\n');
          if (gets.length < 5) exchange.res.end();
          else setTimeout(() => exchange.res.end(), 1_100);
        },
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 7);
      // Slower, it would be after 1.6 s more.
      for (const gap of gaps(gets).slice(4, 6)) expect(gap).toBeLessThan(1_100 + 1_000);
    });

    it('a call that it answers is answered, though the stream is being held back', async () => {
      let held: OddExchange | undefined;
      const { server, gets } = await start({
        answer: (exchange) => {
          held = exchange;
          exchange.res.writeHead(202).end();
        },
        listen: (exchange) => {
          const text = held === undefined ? '' : `data: ${JSON.stringify(rightAnswer(held))}\n\n`;
          stream(exchange, `retry: 0\n${text}\n`);
        },
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 4);
      const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      expect(end.error).toBeUndefined();
      expect(server.count('tools/call')).toBe(1);
    });
  });

  it('a stream that ends as a call is accepted may still bring its answer', async () => {
    const open: OddExchange[] = [];
    let held: OddExchange | undefined;
    const { server } = await start({
      answer: (exchange) => {
        held = exchange;
        open.at(-1)!.res.end();
        setImmediate(() => exchange.res.writeHead(202).end());
      },
      listen: (exchange) => {
        exchange.events();
        open.push(exchange);
        const answer = held && `data: ${JSON.stringify(rightAnswer(held))}\n\n`;
        exchange.res.write(`retry: 0\n${answer ?? message()}`);
      },
    });
    for (let i = 0; i < 10; i++) {
      held = undefined;
      await using host = hostOf(kind, server.url);
      const opened = open.length;
      await host.handle.ready();
      await until(() => open.length > opened);
      const { error } = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      expect(error).toBeUndefined();
    }
  });

  describe('an answer stream that ends at once', () => {
    it('its resumes too: at a growing pace, with a probe at most each time, and answered', async () => {
      let resumes = 0;
      let call: OddExchange | undefined;
      const { server, gets } = await start({
        answer: (exchange) => {
          call = exchange;
          stream(exchange, 'retry: 0\nid: 1\ndata: \n\n');
        },
        resume: (exchange) => {
          const answer = ++resumes < 7 ? '' : JSON.stringify(rightAnswer(call!));
          stream(exchange, `id: 1\ndata: ${answer}\n\n`);
        },
      });
      await using host = hostOf(kind, server.url);
      const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      expect(end.error).toBeUndefined();
      expect(server.count('GET after 1')).toBe(7);
      expect(gets.at(-1)!.at - gets[0]!.at).toBeGreaterThan(1_400);
      expect(server.count('ping')).toBeLessThanOrEqual(6);
      expect(server.count('tools/call')).toBe(1);
    });

    it('one that is polled with new ids, or brings messages, is not slowed', async () => {
      let resumes = 0;
      let call: OddExchange | undefined;
      const { server } = await start({
        answer: (exchange) => {
          call = exchange;
          stream(exchange, 'retry: 0\nid: e0\ndata: \n\n');
        },
        resume: (exchange) => {
          const id = `e${++resumes}`;
          stream(
            exchange,
            resumes < 30 ? message(id) : `id: ${id}\ndata: ${JSON.stringify(rightAnswer(call!))}\n\n`,
          );
        },
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      expect(end.error).toBeUndefined();
      expect(end.ms).toBeLessThan(2_000);
      expect(server.count('ping')).toBeLessThanOrEqual(6);
    });

    it('several calls at once: each answered, and they share the probes', async () => {
      const calls = new Map<string, OddExchange>();
      const resumes = new Map<string, number>();
      const { server } = await start({
        answer: (exchange) => {
          const id = `c${exchange.id}`;
          calls.set(id, exchange);
          stream(exchange, `retry: 0\nid: ${id}\ndata: \n\n`);
        },
        resume: (exchange, lastEventId) => {
          resumes.set(lastEventId, (resumes.get(lastEventId) ?? 0) + 1);
          const isLast = resumes.get(lastEventId) === 5;
          const data = isLast ? JSON.stringify(rightAnswer(calls.get(lastEventId)!)) : '';
          stream(exchange, `id: ${lastEventId}\ndata: ${data}\n\n`);
        },
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      const ends = await Promise.all(
        Array.from({ length: 8 }, () => settled(host.handle.callTool({ name: 't' }, undefined, MINUTE))),
      );
      expect(ends.filter(({ error }) => error !== undefined)).toEqual([]);
      expect([...resumes.values()]).toEqual(Array(8).fill(5));
      expect(server.count('ping')).toBeLessThanOrEqual(6);
    });

    it.each(['100000', ...NEVER])('`retry: %s` is beyond the deadline: settled at once', async (retry) => {
      const { server, gets } = await start(polled(() => {}, `retry: ${retry}\nid: 1\ndata: \n\n`));
      await using host = hostOf(kind, server.url);
      const options = [
        MINUTE,
        { ...MINUTE, onprogress: () => {}, resetTimeoutOnProgress: true },
        { ...MINUTE, maxTotalTimeout: 30_000 },
      ];
      for (const each of options) {
        const end = await settled(host.handle.callTool({ name: 't' }, undefined, each));
        expect(end.ms).toBeLessThan(AT_ONCE_MS);
        expect(end.error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
      }
      expect(gets.filter(({ lastEventId }) => lastEventId !== undefined)).toEqual([]);
      expect(host.handle.generation).toBe(1);
    });

    it('the same after a resume, and what is within the deadline is waited for', async () => {
      let call: OddExchange | undefined;
      const { server } = await start({
        answer: (exchange) => {
          call = exchange;
          stream(exchange, 'retry: 500\nid: 1\ndata: \n\n');
        },
        resume: (exchange) => stream(exchange, 'retry: 100000\nid: 2\ndata: \n\n'),
      });
      await using host = hostOf(kind, server.url);
      const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      expect(end.error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
      expect(end.ms).toBeLessThan(AT_ONCE_MS);
      expect(server.count('GET after 1')).toBe(1);
      server.options.answer = (exchange) => {
        call = exchange;
        stream(exchange, 'retry: 500\nid: 3\ndata: \n\n');
      };
      server.options.resume = (exchange) =>
        stream(exchange, `data: ${JSON.stringify(rightAnswer(call!))}\n\n`);
      expect((await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE))).error).toBeUndefined();
    });
  });

  describe('a call that has settled is resumed no more', () => {
    /** Another call is resumed twelve times meanwhile; returns the resumes of the first one since it settled. */
    async function resumedAfter(settle: 'timeout' | 'abort' | 'error', retryMs: number, resumeId: string) {
      let first: OddExchange | undefined;
      let second: OddExchange | undefined;
      let others = 0;
      const { server, gets } = await start({
        answer: (exchange) => {
          if (first === undefined) first = exchange;
          else second = exchange;
          const id = second === undefined ? 'first' : 'second';
          stream(exchange, `retry: ${retryMs}\nid: ${id}\ndata: \n\n`);
        },
        resume: (exchange, lastEventId) => {
          if (lastEventId.startsWith('second')) {
            const data = ++others < 12 ? '' : JSON.stringify(rightAnswer(second!));
            stream(exchange, `id: second${others}\ndata: ${data}\n\n`);
          } else if (settle === 'error' && gets.length > 2) {
            const error = { jsonrpc: '2.0', id: first!.id, error: { code: -32603, message: 'no' } };
            stream(exchange, `${resumeId}data: ${JSON.stringify(error)}\n\n`);
          } else stream(exchange, `${resumeId}data: \n\n`);
        },
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      const abort = new AbortController();
      const options = settle === 'timeout' ? { timeout: 500 } : { ...MINUTE, signal: abort.signal };
      const call = settled(host.handle.callTool({ name: 't' }, undefined, options));
      if (settle === 'abort') {
        await until(() => gets.some(({ lastEventId }) => lastEventId?.startsWith('first')));
        abort.abort();
      }
      expect((await call).error).toBeDefined();
      // One that was sent before may still be on its way.
      await host.handle.ping();
      const settledAt = performance.now();
      expect((await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE))).error).toBeUndefined();
      return gets.filter(({ at, lastEventId }) => at > settledAt && !lastEventId?.startsWith('second'));
    }

    it.each(['timeout', 'abort', 'error'] as const)('%s', async (settle) => {
      const cases = [0, 200].flatMap((retryMs) =>
        ['', 'id: first\n', 'id: first2\n'].map((id) => resumedAfter(settle, retryMs, id)),
      );
      expect((await Promise.all(cases)).flat()).toEqual([]);
    });
  });

  describe('a 404 to the GET', () => {
    it('the first one: no stream here, no probe', async () => {
      const { server, gets } = await start({ listen: ({ res }) => void res.writeHead(404).end() });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 1);
      for (let i = 0; i < 3; i++) await host.handle.callTool({ name: 't' }, undefined, MINUTE);
      expect([server.count('GET'), server.count('ping'), host.handle.generation]).toEqual([1, 0, 1]);
    });

    it('of a session that had a stream: the loss is found', async () => {
      let sessionIsGone = false;
      let open: OddExchange | undefined;
      const lost: unknown[] = [];
      const { server, gets } = await start({
        listen: (exchange) => {
          if (sessionIsGone) exchange.res.writeHead(404).end();
          else if (gets.length === 1) stream(exchange, `retry: 0\n${message()}`);
          else {
            exchange.events();
            open = exchange;
          }
        },
      });
      await using host = hostOf(kind, server.url, { recovery: { recreate: 'eager' } });
      host.handle.on('lost', (event) => {
        sessionIsGone = false;
        lost.push(event);
      });
      const { first } = server.options;
      await host.handle.ready();
      await until(() => gets.length >= 2);
      sessionIsGone = true;
      server.options.first = (req, res, body) => {
        if (sessionIsGone && body.includes('"ping"')) res.writeHead(404).end();
        return (sessionIsGone && body.includes('"ping"')) || first!(req, res, body);
      };
      open!.res.end();
      await until(() => host.handle.generation === 2 && host.handle.state === 'ready');
      expect(lost).toHaveLength(1);
    });
  });

  describe('a stream that is held back', () => {
    it('is let go with its generation, and the next one opens its own', async () => {
      const sessions = new Set<unknown>();
      const { server, gets } = await start({
        listen: (exchange) => {
          sessions.add(exchange.req.headers['mcp-session-id']);
          stream(exchange, `retry: ${NEVER[0]}\n\n`);
        },
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 1);
      await host.handle.reconnect();
      await until(() => gets.length >= 2);
      server.options.answer = ({ res }) => {
        server.options.answer = (exchange) => exchange.json(rightAnswer(exchange));
        res.writeHead(404).end();
      };
      await host.handle.callTool({ name: 't' }, undefined, MINUTE);
      await until(() => gets.length >= 3);
      expect(sessions.size).toBe(3);
    });

    it('does not keep the process', async () => {
      const { server, gets } = await start({
        listen: (exchange) => stream(exchange, `retry: ${NEVER[0]}\n\n`),
      });
      const code = `
        import { createSupervisor } from '${new URL('../../src/index.ts', import.meta.url)}';
        const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
        await supervisor.own('x', { transport: { kind: 'http', url: '${server.url}' } }).ping();
      `;
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code]);
      try {
        const [exitCode] = await once(child, 'exit');
        expect(exitCode).toBe(0);
        expect(gets).toHaveLength(1);
      } finally {
        child.kill('SIGKILL');
      }
    });

    it('ends with close()', async () => {
      const { server, gets } = await start({ listen: (exchange) => stream(exchange, 'retry: 0\n\n') });
      const host = hostOf(kind, server.url);
      await host.handle.ready();
      await until(() => gets.length >= 5);
      const end = await settled(host[Symbol.asyncDispose]());
      expect(end.ms).toBeLessThan(AT_ONCE_MS);
      const other = await start({ listen: (exchange) => stream(exchange, 'retry: 0\n\n') });
      await using later = hostOf(kind, other.server.url);
      await later.handle.ready();
      await until(() => other.gets.length >= 6);
      expect(gets).toHaveLength(5);
    });
  });
});
