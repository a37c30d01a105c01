/** What the tests of the page open, and what is closed after each of them. */
import { afterEach } from 'vitest';
import { createSupervisor, type Supervisor } from '../../src/index.ts';
import { type Page, type PageOptions, servePage } from '../../src/inspect/page/serve-page.ts';
import { Onlooker } from './onlooker.ts';

const opened: AsyncDisposable[] = [];

/** Call it at the head of a file. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
  });
}

export function opens<Each extends AsyncDisposable>(each: Each): Each {
  opened.push(each);
  return each;
}

export function supervise(): Supervisor {
  return opens(createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } }));
}

export async function serve(supervisor: Supervisor, options?: PageOptions): Promise<Page> {
  return opens(await servePage(supervisor, options));
}

export async function look(page: { readonly url: string }): Promise<Onlooker> {
  return opens(await Onlooker.of(page));
}
