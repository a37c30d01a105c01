// Nothing that the supervisor says holds a secret: headers, tokens, env values, query strings, tool arguments, what
// servers answer. Nor does anything that an inspector is told. An error's `cause` is the SDK's own error, and is not ours to change.
import { inspect as nodeInspect } from 'node:util';
import { createInspector } from '@statelyai/inspect';
import { afterEach, expect, it } from 'vitest';
import type { InspectionEvent } from 'xstate';
import {
  type ConnectionHandle,
  createSupervisor,
  type Logger,
  type OwnOptions,
  type Supervisor,
  SupervisorError,
} from '../../src/index.ts';
import { statelyEvent } from '../../src/inspect/stately-events.ts';
import { steps } from '../../src/inspect/steps.ts';
import { inspectionOf } from '../../src/inspection.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { refreshingProvider } from '../support/oauth.ts';
import { callTool, settled } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

const SECRET = 'hunter2-s3cr3t-value';
/** Also a piece of it is too much. */
const PIECES = [SECRET, encodeURIComponent(SECRET), 's3cr3t-value'];

const RECOVERY = { initialBackoffMs: 1, maxBackoffMs: 1, maxAttempts: 3, coolDownMs: 60_000 };

/** Everything that was said, as text. */
let said: string[] = [];
let supervisor: Supervisor;
let errors = 0;

function open(): Supervisor {
  said = [];
  errors = 0;
  const say = (fields: object, message: string) =>
    void said.push(`log: ${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: say, info: say, warn: say, error: say };
  const inspect = (event: InspectionEvent) => {
    said.push(`observer: ${nodeInspect(heldBy(event), { depth: 10 })}`);
    said.push(`stately: ${JSON.stringify(statelyEvent(event))}`);
    leaky.inspect.next?.(event);
  };
  supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' }, logger, inspect });
  inspectionOf(supervisor).add(steps((step) => said.push(`step: ${JSON.stringify(step)}`)));
  return supervisor;
}

/** All that an actor holds, and is told. */
function heldBy(event: InspectionEvent): object {
  const { event: told, snapshot, actorRef } = event as Extract<InspectionEvent, { type: '@xstate.snapshot' }>;
  const { context, output, error, input } = Object(snapshot);
  return { told, context, output, error, input, options: Object(actorRef).options?.input };
}

/** The inspector of `@statelyai/inspect` as it is without options: it sends on whatever a machine holds. */
const leaky = createInspector({ send: (event) => void said.push(`inspector: ${JSON.stringify(event)}`) });

/** Observers are told a moment later, and that one sends a moment after that. */
async function observersAreTold(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

function listen<H extends ConnectionHandle>(handle: H): H {
  for (const event of ['transition', 'lost', 'recreated', 'ownership-failed'] as const) {
    handle.on(event, (facts) => {
      said.push(`event ${event}: ${JSON.stringify(facts)}`, `status: ${JSON.stringify(handle.status)}`);
    });
  }
  return handle;
}

const own = (options: OwnOptions) => listen(open().own('files', { recovery: RECOVERY, ...options }));

/** A call with a secret in its arguments, which must fail with an error of ours and of this code. */
async function fails(
  handle: ConnectionHandle,
  code: string,
  name = 'append',
  args: object = {},
): Promise<void> {
  const { error } = await settled(callTool({ handle } as never, name, { key: SECRET, ...args }));
  expect(error).toBeInstanceOf(SupervisorError);
  expect(error).toMatchObject({ code });
  const { cause: _cause, ...fields } = error as SupervisorError;
  said.push(`error: ${(error as Error).message} ${JSON.stringify(fields)} ${(error as Error).stack}`);
  errors++;
}

afterEach(async () => {
  for (const handle of supervisor.connections.values()) {
    said.push(JSON.stringify(handle), nodeInspect(handle, { depth: 8, showHidden: true }));
  }
  said.push(nodeInspect(supervisor, { depth: 8, showHidden: true }));
  await supervisor.close();
  await observersAreTold();
  for (const who of ['observer', 'stately', 'inspector', 'step']) {
    expect(
      said.some((line) => line.startsWith(`${who}: `)),
      who,
    ).toBe(true);
  }
  expect(errors, 'the test has seen errors of ours').toBeGreaterThan(0);
  for (const line of said) {
    const leaks = PIECES.filter((piece) => line.includes(piece));
    expect(leaks, line.slice(0, 300)).toEqual([]);
  }
});

it('HTTP: query string, headers, arguments, and what the server answers', async () => {
  const server = shared();
  const url = new URL(`${server.url}?token=${SECRET}`);
  const handle = own({ transport: { kind: 'http', url, headers: { authorization: `Bearer ${SECRET}` } } });
  await until(() => handle.state === 'ready');
  await server.fault({ kind: 'reset', when: 'after' });
  await fails(handle, 'outcome-unknown');
  await server.evict();
  await callTool({ handle } as never, 'append', { key: SECRET });
  await server.fault({ kind: 'status', status: 404, body: `no session ${SECRET}`, times: 2 });
  await fails(handle, 'unavailable');
  await server.fault({ kind: 'status', status: 503, body: SECRET });
  await settled(callTool({ handle } as never, 'append', { key: SECRET }));
  await server.fault({ kind: 'rpc-error', code: -32001, message: SECRET, data: { token: SECRET } });
  await settled(callTool({ handle } as never, 'append', { key: SECRET }));
  await handle.close();
  await fails(handle, 'closed');
});

it('HTTP: a server that is not there, and an answer to initialize that holds it', async () => {
  const url = `${await refusingUrl()}?api_key=${SECRET}`;
  const refused = own({ transport: { kind: 'http', url } });
  await fails(refused, 'unavailable');
  await supervisor.close();

  const server = shared();
  await server.fault({ on: 'initialize', kind: 'status', status: 500, body: SECRET, times: 'always' });
  const failing = own({ transport: { kind: 'sse', url: `${server.url}?api_key=${SECRET}` } });
  await fails(failing, 'unavailable');
});

it('HTTP: a `fetch` that names a header in its own error', async () => {
  const headers = { authorization: `Bearer ${SECRET}` };
  const refusing = () => Promise.reject(new TypeError(`invalid header value: Bearer ${SECRET}`));
  await fails(
    own({ transport: { kind: 'http', url: shared().url, headers, fetch: refusing } }),
    'unavailable',
  );
});

it('HTTP: the tokens of an authProvider', async () => {
  const server = shared();
  await server.requireAuth('another');
  const oauth = refreshingProvider(SECRET, () => `${SECRET}-2`);
  const handle = own({
    transport: { kind: 'http', url: server.url, authProvider: oauth.provider, fetch: oauth.fetch },
  });
  await fails(handle, 'unavailable');
  await server.requireAuth();
});

it('stdio: env values that the server prints on its stderr, also where its tail begins in the middle of one', async () => {
  const cut = `${SECRET}${'.'.repeat(4_096 - 12)}`;
  for (const stderr of [`my token is ${SECRET}\n`, `${SECRET.repeat(3)}\n`, cut]) {
    await using child = stdioServer({ stderr });
    const { command, args } = child;
    const handle = own({ transport: { kind: 'stdio', command, args, env: { TOKEN: SECRET } } });
    await until(() => handle.state === 'ready');
    const call = fails(handle, 'outcome-unknown', 'append', { holdMs: 10_000 });
    await until(() => child.ledger.runs() === 1);
    process.kill(child.server(), 'SIGKILL');
    await call;
    const told = said.at(-1);
    expect(told, 'the tail is there').toContain(stderr === cut ? '....' : '[redacted]');
    await supervisor.close();
  }
});

it('stdio: a command that cannot be started', async () => {
  const transport = {
    kind: 'stdio',
    command: '/nowhere/server',
    args: [SECRET],
    env: { TOKEN: SECRET },
  } as const;
  await fails(own({ transport }), 'unavailable');
});

it('a connect function that rejects with it', async () => {
  const connect = async () => {
    throw Object.assign(new Error(`connect failed for ${SECRET}`), { url: SECRET, code: SECRET });
  };
  await fails(own({ connect }), 'unavailable');
});

it('a caller’s client: its URL, its headers, the server’s words', async () => {
  const server = shared();
  await using raw = await connectV1(new URL(`${server.url}?token=${SECRET}`), {
    headers: { 'x-key': SECRET },
  });
  const handle = listen(open().adopt('mine', raw.client));
  await server.fault({ kind: 'status', status: 404, body: `unknown session ${SECRET}` });
  await fails(handle, 'ownership');
  await fails(handle, 'ownership');
});
