/** How a dial with SDK v2 finds out which revision of MCP its server speaks. */
import type { OwnedTransport, VersionNegotiation } from './recipe.ts';

/**
 * Servers of some SDKs end when anything comes before `initialize`. SDK v2 starts every server twice for their sake,
 * once to ask it; here the next dial of one that has ended does not ask, until such a dial fails too.
 */
const endedWhenAsked = new WeakSet<OwnedTransport>();

export function negotiationFor(transport: OwnedTransport, connectTimeoutMs: number): VersionNegotiation {
  const { kind, versionNegotiation: { mode = kind === 'sse' ? 'legacy' : 'auto', probe } = {} } = transport;
  if (kind !== 'stdio') return { mode, ...(probe && { probe }) };
  // A server that does not answer what it does not know is still given time for the handshake.
  const timeoutMs = probe?.timeoutMs ?? Math.max(1, Math.floor(connectTimeoutMs / 3));
  return { mode: endedWhenAsked.has(transport) ? 'legacy' : mode, probe: { ...probe, timeoutMs } };
}

/** The handshake over this transport has failed. `hasEnded`: by the end of the process. Returns what that says. */
export function negotiationFailed(transport: OwnedTransport, hasEnded: boolean, error: unknown): unknown {
  const { kind, sdk, versionNegotiation: { mode = 'auto' } = {} } = transport;
  if (kind !== 'stdio' || sdk === undefined || mode !== 'auto') return error;
  if (endedWhenAsked.delete(transport) || !hasEnded) return error;
  endedWhenAsked.add(transport);
  // That of the SDK would say that no revision is common to both.
  const what = 'The process of the server ended when it was asked which revision it speaks';
  return new Error(what, { cause: error });
}
