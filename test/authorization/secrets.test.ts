// Neither the page of a login, nor a code, nor a token is told to anyone but the listeners of the event.
import { inspect as nodeInspect } from 'node:util';
import { expect, it } from 'vitest';
import type { InspectionEvent } from 'xstate';
import { createSupervisor, type Logger } from '../../src/index.ts';
import { statelyEvent } from '../../src/inspect/stately-events.ts';
import { steps } from '../../src/inspect/steps.ts';
import { inspectionOf } from '../../src/inspection.ts';
import { openTelemetry } from '../../src/opentelemetry/index.ts';
import { Recorder } from '../opentelemetry/traced.ts';
import { authorizationServer, CLIENT, REDIRECT_URL } from '../support/authorization-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { HostProvider } from '../support/host-provider.ts';
import { settled } from '../support/owned.ts';
import { protectedServer } from '../support/protected-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

it('not in a log, a status, an error, a span, a metric, or what an inspector is told', async () => {
  await using authorization = await authorizationServer();
  await using server = await protectedServer(authorization);
  const provider = new HostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read' });
  const said: string[] = [];
  const say = (fields: object, message: string) => void said.push(`${message} ${nodeInspect(fields, DEEP)}`);
  const logger: Logger = { debug: say, info: say, warn: say, error: say };
  const inspect = (event: InspectionEvent) => {
    const { event: told, snapshot } = event as Extract<InspectionEvent, { type: '@xstate.snapshot' }>;
    const { context, output, error } = Object(snapshot);
    said.push(nodeInspect([told, context, output, error], DEEP), JSON.stringify(statelyEvent(event)));
  };
  await using recorder = new Recorder();
  const { tracerProvider, meterProvider } = recorder;
  const telemetry = openTelemetry({ tracerProvider, meterProvider });
  const supervisor = createSupervisor({
    clientInfo: { name: 'h', version: '1' },
    logger,
    inspect,
    telemetry,
  });
  inspectionOf(supervisor).add(steps((step) => said.push(JSON.stringify(step))));
  const transport = { kind: 'http', url: server.url, authProvider: provider } as const;
  const handle = supervisor.own('files', { transport });
  const pages: URL[] = [];
  handle.on('authorization-required', ({ url }) => pages.push(url));
  handle.on('transition', (event) => say(event, 'transition'));
  const secrets: (string | null | undefined)[] = [];

  const signIn = async () => {
    await until(() => handle.status.authorization === 'required');
    const { error } = await settled(handle.callTool({ name: 'read' }, undefined, { timeout: 100 }));
    say({ status: handle.status, error }, 'signed out');
    const callback = await authorization.signIn(pages.at(-1) as URL);
    const wrong = await settled(handle.finishAuth(`${callback}1`.replace('state=', 'state=x')));
    say({ error: wrong.error }, 'refused');
    await handle.finishAuth(callback);
    await handle.callTool({ name: 'read' });
    secrets.push(callback.searchParams.get('code'), provider.tokens()?.access_token);
    secrets.push(provider.tokens()?.refresh_token, provider.codeVerifier());
  };
  await signIn();
  server.expire();
  await handle.callTool({ name: 'read' });
  secrets.push(provider.tokens()?.access_token, provider.tokens()?.refresh_token);
  await until(() => server.seen.admitted.includes('GET'));
  provider.saveTokens({ access_token: 'a-token-that-is-gone', token_type: 'Bearer' });
  const call = handle.callTool({ name: 'read' });
  await signIn();
  await call;
  await supervisor.close();

  expect(recorder.calls.length).toBeGreaterThan(3);
  say([recorder.spans, await recorder.metrics()], 'telemetry');
  for (const page of pages) {
    const { searchParams } = page;
    secrets.push(page.href, searchParams.get('state'), searchParams.get('code_challenge'));
  }
  expect(pages.length).toBe(2);
  expect(said.join()).toContain('Somebody has to sign in');
  const text = said.join('\n');
  const found = [...secrets, 'a-token-that-is-gone'].filter((secret) => text.includes(secret as string));
  expect(found).toEqual([]);
  expect(secrets.length).toBeGreaterThan(12);
});

const DEEP = { depth: 12, maxArrayLength: null, showHidden: true };
