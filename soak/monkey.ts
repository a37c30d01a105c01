/** Carries out the plan of one hand at one site, step by step, until it is told to stop; then all works again. */
import { type Fault, type Hand, planOf } from './plan.ts';
import type { FaultRecord, RecordFile } from './records.ts';
import { signal } from './server-process.ts';
import type { Site } from './site.ts';

export class Monkey {
  readonly #site: Site;
  readonly #faults: RecordFile<FaultRecord>;
  readonly #done: Promise<void>;
  #stopped = false;
  #wake = () => {};

  constructor(site: Site, hand: Hand, faults: RecordFile<FaultRecord>, seed: number) {
    this.#site = site;
    this.#faults = faults;
    this.#done = this.#run(seed, hand);
  }

  /** Resolves when what was under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#done;
    this.#site.http?.proxy.disarm();
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
        http?.proxy.reset(fault.share);
        return;
      case 'cut':
        http?.proxy.arm({ kind: 'cut' }, fault.answers);
        return;
      case 'stall':
        http?.proxy.stall();
        await this.#pause(fault.ms);
        if (fault.drops) http?.proxy.reset(1);
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
        slots[fault.slot]?.line.reconnect().catch(() => {});
        return;
      case 'reopen':
        slots[fault.slot]?.reopen().catch(() => {});
        return;
    }
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
