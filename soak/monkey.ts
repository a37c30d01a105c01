/** Carries out the plan of one hand at one site, step by step, until it is told to stop; then all works again. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Fault, type Hand, planOf } from './plan.ts';
import type { FaultRecord, RecordFile } from './records.ts';
import { signal } from './server-process.ts';
import type { Site, Slot } from './site.ts';

export class Monkey {
  readonly #site: Site;
  readonly #faults: RecordFile<FaultRecord>;
  readonly #done: Promise<void>;
  /** Acts of the host that have not settled, and of which connection. */
  readonly #acts = new Map<Promise<void>, string>();
  #stopped = false;
  #wake = () => {};

  constructor(site: Site, hand: Hand, faults: RecordFile<FaultRecord>, seed: number) {
    this.#site = site;
    this.#faults = faults;
    this.#done = this.#run(seed, hand);
  }

  /** Resolves when what was under way is over, with the connections whose `reconnect()` or `close()` did not end within the limit. */
  async stop(limitMs: number): Promise<string[]> {
    this.#stopped = true;
    this.#wake();
    await this.#done;
    this.#site.http?.proxy.disarm();
    await Promise.race([Promise.all(this.#acts.keys()), wait(limitMs, undefined, { ref: false })]);
    return [...this.#acts.values()];
  }

  async #run(seed: number, hand: Hand): Promise<void> {
    const { name, http, slots } = this.#site;
    const site = { name, overHttp: http !== undefined, slots: slots.length };
    for (const { pauseMs, fault } of planOf(seed, hand, site)) {
      await this.#pause(pauseMs);
      if (this.#stopped) return;
      const from = Date.now();
      const pid = await this.#strike(fault);
      this.#faults.add({ site: name, fault, from, to: Date.now(), ...(pid === undefined ? {} : { pid }) });
    }
  }

  /** The pid of whom it killed. */
  async #strike(fault: Fault): Promise<number | undefined> {
    const { http, slots } = this.#site;
    switch (fault.kind) {
      case 'kill':
        return this.#kill(fault.downMs);
      case 'stop':
        await this.#suspend(fault.ms);
        return;
      case 'evict':
        await http?.server.evict(fault);
        return;
      case 'reset':
        http?.proxy.reset(fault.share, fault.quietly);
        return;
      case 'cut':
        http?.proxy.arm(fault, fault.answers);
        return;
      case 'stall':
        http?.proxy.stall();
        await this.#pause(fault.ms);
        if (fault.drops) http?.proxy.reset(1, false);
        http?.proxy.goOn();
        return;
      case 'refuse':
        http?.proxy.refuse();
        await this.#pause(fault.ms);
        await http?.proxy.listen();
        return;
      case '502':
        http?.proxy.arm(
          { kind: 'answer', status: '502 Bad Gateway', headers: '', ran: fault.ran },
          fault.requests,
        );
        return;
      case '429':
        http?.proxy.arm(
          {
            kind: 'answer',
            status: '429 Too Many Requests',
            headers: `retry-after: ${fault.retryAfterS}\r\n`,
            ran: false,
          },
          fault.requests,
        );
        return;
      // Neither is waited for: what comes next may strike in the midst of it.
      case 'reconnect':
        this.#act(slots[fault.slot]!, (slot) => slot.line.reconnect());
        return;
      case 'reopen':
        this.#act(slots[fault.slot]!, (slot) => slot.reopen());
        return;
    }
  }

  #act(slot: Slot, perform: (slot: Slot) => Promise<void>): void {
    const { connection } = slot;
    const act = perform(slot)
      .catch(() => {})
      .finally(() => this.#acts.delete(act));
    this.#acts.set(act, connection);
  }

  async #kill(downMs: number): Promise<number | undefined> {
    const pid = this.#site.pid();
    const { http } = this.#site;
    if (http === undefined) {
      signal(pid, 'SIGKILL');
      return pid;
    }
    await http.server.kill();
    await this.#pause(downMs);
    await http.server.start();
    return pid;
  }

  async #suspend(ms: number): Promise<void> {
    const pid = this.#site.pid();
    signal(pid, 'SIGSTOP');
    await this.#pause(ms);
    signal(pid, 'SIGCONT');
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
