/** What a server says that it has. */
import type { ConnectionHandle } from '../handles.ts';

export interface Offer {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

/** Of one list. A server that always has one more would keep us for ever. */
const MAX_PAGES = 100;

export class EndlessListError extends Error {
  constructor(list: string) {
    super(`its list of ${list} has more than ${MAX_PAGES} pages`);
  }
}

/** @throws {EndlessListError} */
export async function offerOf(handle: ConnectionHandle): Promise<Offer> {
  const { name = '', version = '' } = handle.getServerVersion() ?? {};
  const { tools, prompts, resources } = handle.getServerCapabilities() ?? {};
  return {
    name,
    version,
    tools: tools ? await names((page) => handle.listTools(page), 'tools') : [],
    prompts: prompts ? await names((page) => handle.listPrompts(page), 'prompts') : [],
    resources: resources ? await names((page) => handle.listResources(page), 'resources') : [],
  };
}

type Listed<List extends string> = { nextCursor?: string | undefined } & Record<List, { name: string }[]>;

/** Each once: a server that does not heed its own cursors gives the first page again and again. */
async function names<List extends string>(
  list: (page: { cursor?: string }) => Promise<Listed<List>>,
  key: List,
): Promise<string[]> {
  const found = new Set<string>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await list(cursor === undefined ? {} : { cursor });
    for (const { name } of page[key]) found.add(name);
    cursor = page.nextCursor;
    if (!cursor || cursors.has(cursor)) return [...found];
    cursors.add(cursor);
  }
  throw new EndlessListError(key);
}
