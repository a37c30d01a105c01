// Invariants of machines/connection.machine.ts that need time or several steps: 4 (one dial at a time, aborted on
// leaving, after the end of the old generation), 5 (attempts), 6 (generations), 8 (nothing after close).
import { expect, it } from 'vitest';
import { backoffMs, coolDownMs } from '../../machines/connection.machine.ts';
import { ConnectionDriver, RETRYABLE } from './connection-driver.ts';

it('5: attempts are not given back on entering ready, so a flapping server is not dialled for ever', async () => {
  const driver = new ConnectionDriver({ recreate: 'eager', maxAttempts: 3 });
  for (let flap = 0; flap < 10 && driver.state !== 'exhausted.cooling'; flap++) {
    await driver.opened();
    await driver.pass(4_999).lose().pass(400).retired();
  }
  expect(driver.state).toBe('exhausted.cooling');
  expect(driver.opens).toHaveLength(3);
  expect(driver.context.generation).toBe(3);
});

it('5: attempts are given back after `stable`', async () => {
  const driver = new ConnectionDriver({ maxAttempts: 2 });
  for (let life = 1; life <= 10; life++) {
    await driver.opened();
    expect(driver.state).toBe('ready.steady');
    driver.pass(5_000);
    expect(driver.context.attempts).toBe(0);
    driver.lose().demand();
    expect(driver.state, 'after a stable life, nothing is waited for').toBe('recreating.retiring');
    await driver.retired();
  }
  expect(driver.opens).toHaveLength(11);
});

it('5: attempts are given back when an operation of the host was answered', async () => {
  const driver = new ConnectionDriver({ maxAttempts: 2 });
  for (let life = 1; life <= 10; life++) {
    await driver.opened();
    driver.answer().lose().demand();
    expect(driver.state).toBe('recreating.retiring');
    await driver.retired();
  }
  expect(driver.opens).toHaveLength(11);
});

it('5: an answer gives nothing back to a recreation that no operation waits for', async () => {
  const driver = new ConnectionDriver({ recreate: 'eager', maxAttempts: 4 });
  const delays: number[] = [];
  for (let life = 1; life <= 10 && driver.state !== 'exhausted.cooling'; life++) {
    await driver.opened();
    driver.answer().lose();
    if (driver.state === 'recreating.backingOff') delays.push(Math.min(...driver.clock.runningMs));
    await driver.pass(400).retired();
  }
  expect(driver.state).toBe('exhausted.cooling');
  expect(delays).toEqual([100, 112.5, 126.5625]);
});

it('5: a demand turns an eager recreation into one that an operation waits for', async () => {
  const driver = new ConnectionDriver({ recreate: 'eager', maxAttempts: 4 });
  await driver.opened();
  await driver.answer().lose().pass(100).retired();
  await driver.openFailed(RETRYABLE);
  await driver.pass(400).retired();
  await driver.opened();
  driver.answer().lose();
  expect(driver.state).toBe('recreating.backingOff');
  driver.demand();
  expect(driver.state).toBe('recreating.retiring');
});

it('5: a probe does not restart the time that makes a connection stable', async () => {
  const driver = await new ConnectionDriver().opened();
  driver.pass(3_000).suspect();
  await driver.probed({ verdict: 'usable', cause: 'deaf' });
  driver.pass(2_000);
  expect(driver.context.attempts).toBe(0);
});

it('5: a trial after the cool-down is one attempt, however many wait for it', async () => {
  const driver = new ConnectionDriver({ maxAttempts: 2 });
  await driver.openFailed(RETRYABLE);
  await driver.pass(100).openFailed(RETRYABLE);
  expect(driver.state).toBe('exhausted.cooling');
  driver.demand().demand();
  expect(driver.opens, 'no demand is served while it cools').toHaveLength(2);
  driver.pass(10_000);
  for (let demand = 0; demand < 50; demand++) driver.demand();
  expect(driver.opens).toHaveLength(3);
  await driver.openFailed(RETRYABLE);
  expect(driver.state).toBe('exhausted.cooling');
});

it('5: the backoff of a child doubles to its bound, and the server may ask for more', async () => {
  const driver = new ConnectionDriver({ spawns: true, maxAttempts: 20, windowMs: 600_000 });
  for (const bound of [100, 200, 400, 400]) {
    await driver.openFailed(RETRYABLE);
    const dials = driver.opens.length;
    driver.pass(bound - 1);
    expect(driver.opens).toHaveLength(dials);
    driver.pass(1);
    expect(driver.opens).toHaveLength(dials + 1);
  }
  await driver.openFailed({ cause: 'http-error', permanent: false, retryAfterMs: 7_000 });
  driver.pass(7_099);
  expect(driver.state).toBe('connecting.backingOff');
  driver.pass(1);
  expect(driver.state).toBe('connecting.opening');
  await driver.opened();
  expect(driver.context.retryAfterMs).toBe(0);
});

it('5: half of a back-off is random, all of the first, and none is below what the server asked for', () => {
  const { context } = new ConnectionDriver({ spawns: true });
  const after = (attempts: number, retryAfterMs: number, random: number) =>
    backoffMs({ ...context, attempts, retryAfterMs }, random);
  expect([0, 1, 2, 3, 4].map((attempts) => after(attempts, 0, 1))).toEqual([100, 100, 200, 400, 400]);
  expect([0, 0.25, 1].map((random) => after(0, 0, random))).toEqual([0, 25, 100]);
  expect([0, 0.5, 1].map((random) => after(3, 0, random))).toEqual([200, 300, 400]);
  expect([0, 1].map((random) => after(3, 150, random))).toEqual([200, 400]);
  expect([0, 1].map((random) => after(3, 500, random))).toEqual([500, 600]);
});

it('5: over a network no delay is more than a quarter of the time since the server went, and 200 ms', () => {
  const { context } = new ConnectionDriver({ initialBackoffMs: 200, maxBackoffMs: 10_000 });
  // The worst: all delays before this one were as short as they can be.
  let passedMs = backoffMs({ ...context, attempts: 0 }, 0);
  for (let attempts = 1; passedMs < 120_000; attempts++) {
    const longestMs = backoffMs({ ...context, attempts }, 1);
    expect(longestMs).toBeLessThan(200.001 + passedMs / 4);
    passedMs += backoffMs({ ...context, attempts }, 0);
  }
});

it('5: a tenth of a cool-down is random, and none is shorter than the server asked', () => {
  const { context } = new ConnectionDriver();
  expect([0, 0.5, 1].map((random) => coolDownMs(context, random))).toEqual([10_000, 9_500, 9_000]);
  const asked = { ...context, retryAfterMs: 20_000 };
  expect([0, 0.5, 1].map((random) => coolDownMs(asked, random))).toEqual([20_100, 20_050, 20_000]);
});

it('5: reconnect() tries at once, with a whole budget', async () => {
  const driver = new ConnectionDriver({ maxAttempts: 1 });
  await driver.openFailed(RETRYABLE);
  expect(driver.state).toBe('exhausted.cooling');
  driver.send({ type: 'reconnect' });
  expect(driver.state).toBe('connecting.opening');
  expect(driver.context.attempts).toBe(1);
});

it('5: reconnect() of one that was ready once lets the old generation end first', async () => {
  const driver = await new ConnectionDriver({ maxAttempts: 1 }).opened();
  driver.lose().demand();
  expect(driver.state).toBe('exhausted.cooling');
  driver.send({ type: 'reconnect' });
  expect(driver.state).toBe('recreating.retiring');
  expect(driver.context.attempts).toBe(1);
});

it('5: an old generation that cannot be ended is a failed dial', async () => {
  const driver = (await new ConnectionDriver({ maxAttempts: 3 }).opened()).lose().demand();
  const stuck = { cause: 'not-ended', permanent: false, retryAfterMs: 0 } as const;
  await driver.pass(100).retireFailed(stuck);
  expect(driver.state).toBe('recreating.backingOff');
  await driver.pass(200).retireFailed(stuck);
  expect(driver.state).toBe('exhausted.cooling');
  expect(driver.context.cause).toBe('not-ended');
  expect(driver.opens).toHaveLength(1);
});

it('5: the first dial may last longer than the window', async () => {
  const driver = new ConnectionDriver();
  driver.pass(60_000);
  expect(driver.state).toBe('connecting.opening');
  await driver.opened();
  expect(driver.state).toBe('ready.steady');
});

it('5: the window ends a recovery, whatever is left of the attempts', async () => {
  const driver = new ConnectionDriver({ maxAttempts: 1_000, windowMs: 1_000 });
  for (let dial = 0; driver.state !== 'exhausted.cooling' && dial < 100; dial++) {
    await driver.openFailed(RETRYABLE);
    driver.pass(400);
  }
  expect(driver.state).toBe('exhausted.cooling');
  expect(driver.opens.length).toBeLessThan(6);
});

it.each([
  ['close', (d: ConnectionDriver) => d.send({ type: 'close' }), 'closing'],
  ['the window', (d: ConnectionDriver) => d.pass(60_000), 'exhausted.cooling'],
] as const)(
  '4: %s aborts the dial; what it brings too late changes nothing',
  async (_what, leave, target) => {
    const driver = await (await new ConnectionDriver().opened()).lose().demand().pass(100).retired();
    const dial = driver.opens.at(-1);
    expect(dial?.signal.aborted).toBe(false);
    leave(driver);
    expect(dial?.signal.aborted).toBe(true);
    const before = driver.trace;
    await driver.opened();
    expect(driver.trace).toBe(before);
    expect(driver.state).toBe(target);
    expect(driver.context.generation).toBe(1);
  },
);

it('4: any number of demands and reports cause one dial, and it waits for the end of the old one', async () => {
  const driver = await new ConnectionDriver().opened();
  for (let call = 0; call < 100; call++) driver.lose().demand({ policy: 'safe', execution: 'unknown' });
  driver.pass(100);
  for (let call = 0; call < 100; call++) driver.demand().lose();
  expect(driver.retires).toHaveLength(1);
  expect(driver.opens).toHaveLength(1);
  await driver.retired();
  expect(driver.opens).toHaveLength(2);
  expect(driver.opens.at(-1)?.input).toEqual({ generation: 2, attempt: 2 });
});

it('6: a failed handshake has no generation', async () => {
  const driver = new ConnectionDriver({ maxAttempts: 3 });
  await driver.openFailed(RETRYABLE);
  await driver.pass(100).openFailed(RETRYABLE);
  await driver.pass(200).opened();
  expect(driver.opens.map(({ input }) => input.generation)).toEqual([1, 1, 1]);
  expect(driver.context.generation).toBe(1);
});

it('8: nothing is opened after close, whatever comes', async () => {
  const driver = await new ConnectionDriver({ recreate: 'eager' }).opened();
  driver.send({ type: 'close' });
  const storm = () => {
    driver.lose().suspect().heard().demand().send({ type: 'reconnect' }).send({ type: 'replaced' });
    driver.pass(1_000_000);
  };
  storm();
  await driver.shutDown();
  storm();
  expect(driver.state).toBe('closed');
  expect([driver.opens.length, driver.probes.length, driver.shutdowns.length]).toEqual([1, 0, 1]);
});
