/** What a server says that it has. */
import type { ConnectionHandle } from '../handles.ts';

export interface Offer {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

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

/** A server that hands out a cursor for the second time would go on for ever. */
async function names<List extends string>(
  list: (page: { cursor?: string }) => Promise<Listed<List>>,
  key: List,
): Promise<string[]> {
  const found: string[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await list(cursor === undefined ? {} : { cursor });
    found.push(...page[key].map(({ name }) => name));
    cursor = page.nextCursor;
    if (cursor !== undefined && cursors.has(cursor)) break;
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return found;
}
