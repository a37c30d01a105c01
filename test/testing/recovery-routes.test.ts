// A route must be able to fail: hosts that do what hosts do wrong, and what the route says of them.
import { describe, expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { type Embed, RouteError, recoveryRoutes } from '../../src/testing/index.ts';

const routeNamed = (part: string) => recoveryRoutes().find(({ name }) => name.endsWith(part))!;

type Call = (name: string, args: { readonly key: string }, timeoutMs: number) => Promise<unknown>;

/** A host whose own code stands between its users and the handle. */
function host(wrap: (call: Call) => Call): Embed {
  return ({ supervisor: options, own }) => {
    const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' }, ...options });
    const connection = supervisor.own('files', own);
    const call: Call = (name, args, timeout) =>
      connection.callTool({ name, arguments: args }, undefined, { timeout });
    return { connection, callTool: wrap(call), close: () => supervisor.close() };
  };
}

const faithful = host((call) => call);

describe('a route over HTTP: the session is forgotten, a call finds it, and waits for the next', () => {
  const route = routeNamed('(opened) lost, and a call did not run > opened');

  it('is walked by a host that does nothing of its own', async () => {
    await route.run(faithful);
  });

  it('fails for a host that calls again by itself', async () => {
    const eager = host((call) => async (...args) => {
      await call(...args);
      return call(...args);
    });
    const failure = await route.run(eager).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(RouteError);
    expect(String(failure)).toMatch(/at step 1, opened: the server counted .*expected/);
  });

  it('fails for a host that swallows errors', async () => {
    const silent = host(
      (call) =>
        (...args) =>
          call(...args).catch(() => undefined),
    );
    const lossy = routeNamed('(opened) lost > demand > after window');
    await expect(lossy.run(silent)).rejects.toThrow(/the calls got/);
  });
});

it('says what is wrong with a selection', () => {
  expect(() => recoveryRoutes({ ownership: 'nobody' as never })).toThrow(
    'recoveryRoutes: ownership: expected one of supervisor, caller-client, caller-session',
  );
  expect(() => recoveryRoutes({ transport: 'pigeon' as never })).toThrow(
    'recoveryRoutes: transport: expected one of http, stdio',
  );
});

it('every route has a name of its own, and steps that can be read', () => {
  for (const transport of ['http', 'stdio'] as const) {
    const routes = recoveryRoutes({ transport });
    expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
    expect(routes.every(({ steps }) => steps.length > 1)).toBe(true);
  }
});
