/**
 * A host can give each of its v2 clients the same store of answers. The store outlives a generation, and a server that
 * was started again may offer other things under the name and version that the store knows it by.
 */

/** A private field of SDK v2, which has no other way to say this without the host's handlers being called. */
interface CachingClient {
  readonly _cache?: { readonly _isUserSupplied?: boolean; evict?(method: string): Promise<void> };
}

/** What a `list_changed` of each kind evicts. */
const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const;

/** Drops the lists of this client's server, and of no other. What is read by URI keeps the time that its server gave it. */
export async function evictLists(client: object): Promise<void> {
  const { _cache: cache } = client as CachingClient;
  if (cache?._isUserSupplied !== true) return;
  await Promise.all(LISTS.map((method) => cache.evict?.(method)));
}
