// What a client's own `fetch` traces is part of the operation's span, as that is of the caller's.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { traced } from './traced.ts';

expectNoCrashes();
const contexts = new AsyncLocalStorageContextManager();
beforeAll(() => void context.setGlobalContextManager(contexts.enable()));
afterAll(() => context.disable());

it('the first time, and when it is sent again', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const inside: (string | undefined)[] = [];
  const files = host.own({
    transport: {
      ...(server.target as { kind: 'http'; url: string }),
      fetch: (url, init) => {
        if (String(init?.body).includes('tools/call')) {
          inside.push(trace.getActiveSpan()?.spanContext().spanId);
        }
        return fetch(url, init);
      },
    },
  });
  await files.ping();
  await server.evict();
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  const call = host.recorder.calls.find(({ name }) => name === 'tools/call append');
  expect(inside).toEqual([call?.spanContext().spanId, call?.spanContext().spanId]);
});

it('a span of the caller’s is the parent', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  const parent = host.recorder.tracerProvider.getTracer('host').startSpan('agent turn');
  await context.with(trace.setSpan(context.active(), parent), () => files.listTools());
  expect(host.recorder.calls[0]?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
});
