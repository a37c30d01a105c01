// What counts as a sleep, by clocks of the test's own: a process that is stopped or busy for real would take long.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hostSleep } from '../../src/host-sleep.ts';

let cpuMs = 0;
let count = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  cpuMs = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: cpuMs * 1_000, system: 0 }));
  hostSleep.watch();
  ({ count } = hostSleep);
});
afterEach(() => {
  hostSleep.unwatch();
  expect(vi.getTimerCount(), 'no timer is left').toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The clock goes on, and no timer fires. */
const stopped = (ms: number) => void vi.setSystemTime(Date.now() + ms);
/** As a call asks. */
function sleptSince(noted: number): boolean {
  if (Date.now() > hostSleep.quietUntil) hostSleep.look(Date.now());
  return hostSleep.count !== noted;
}
const slept = () => sleptSince(count);

it('a call notices it before the timer that is late', () => {
  stopped(4_000);
  expect(slept()).toBe(true);
  expect(sleptSince(hostSleep.count), 'once').toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(hostSleep.count).toBe(count + 1);
});

it('the timer notices it, when nobody calls', () => {
  stopped(2_500);
  vi.advanceTimersByTime(1_000);
  expect(hostSleep.count).toBe(count + 1);
  expect(slept()).toBe(true);
});

it('two seconds late is not late', () => {
  stopped(2_000);
  expect(slept()).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(slept()).toBe(false);
});

it('a process that was busy has spent the time', () => {
  stopped(10_000);
  cpuMs += 9_000;
  expect(slept()).toBe(false);
  stopped(10_000);
  expect(slept(), 'a sleep after that').toBe(true);
});

it('a clock that is set back is no sleep, and hides none', () => {
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(slept()).toBe(false);
  vi.advanceTimersByTime(1_000);
  stopped(4_000);
  expect(slept()).toBe(true);
});

it('while nobody watches, nothing is noticed', () => {
  hostSleep.unwatch();
  stopped(60_000);
  hostSleep.watch();
  expect(slept()).toBe(false);
});
