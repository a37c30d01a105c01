/** Looks on as a page does, without a browser: reads what the host sends. */
import type { Changes, Snapshot } from '../../src/inspect/page/wire.ts';
import { until } from '../support/until.ts';

export class Onlooker implements AsyncDisposable {
  snapshot: Snapshot | undefined;
  readonly changes: Changes[] = [];
  /** Everything that was sent. */
  text = '';
  readonly #stop = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  /** Resolves when the snapshot is there. */
  static async of(page: { readonly url: string }): Promise<Onlooker> {
    const onlooker = new Onlooker();
    const { body } = await fetch(eventsOf(page.url), { signal: onlooker.#stop.signal });
    onlooker.#reading = onlooker.#read(body as ReadableStream<Uint8Array>).catch(() => {});
    await until(() => onlooker.snapshot, { what: 'the snapshot' });
    return onlooker;
  }

  /** Each path that a connection was told to be in, in order; doubles left out. */
  pathsOf(connection: string): string[] {
    const views = this.changes.flatMap(({ connections }) => connections);
    const paths = views.filter((view) => view.connection === connection).map(({ path }) => path);
    return paths.filter((path, index) => path !== paths[index - 1]);
  }

  get steps() {
    return this.changes.flatMap(({ steps }) => steps);
  }

  get recoveries() {
    return new Map(this.changes.flatMap(({ recoveries }) => recoveries).map((each) => [each.id, each]));
  }

  get operations() {
    return new Map(this.changes.flatMap(({ operations }) => operations).map((each) => [each.id, each]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let unread = '';
    for await (const piece of body.pipeThrough(
      new TextDecoderStream() as never,
    ) as unknown as AsyncIterable<string>) {
      this.text += piece;
      const events = (unread + piece).split('\n\n');
      unread = events.pop() ?? '';
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const [, type, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
    if (type === 'snapshot') this.snapshot = JSON.parse(data);
    if (type === 'changes') this.changes.push(JSON.parse(data));
  }
}

export function eventsOf(page: string): URL {
  const url = new URL(page);
  url.pathname = '/events';
  return url;
}
