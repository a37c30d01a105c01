/** `mcp-steward check`: one connection to every server, once. */
import { performance } from 'node:perf_hooks';
import pc from 'picocolors';
import { CAUSE_TEXT } from '../cause-text.ts';
import { processText, SupervisorError } from '../errors.ts';
import type { OwnedConnection } from '../handles.ts';
import { createSupervisor } from '../supervisor.ts';
import { type OwnedTransport, preload } from '../transports/recipe.ts';
import { VERSION } from '../version.ts';
import type { Arguments } from './arguments.ts';
import { readServers } from './config.ts';
import { exitWhenInterrupted } from './interrupt.ts';
import { EndlessListError, type Offer, offerOf } from './offer.ts';
import { printable } from './printable.ts';

interface Report {
  readonly server: string;
  readonly ok: boolean;
  /** From nothing to the end of the handshake, in milliseconds. */
  readonly connectMs: number;
  readonly offer?: Offer;
  readonly error?: string;
  /** The end of what its process wrote, without what the configuration passed to it as a secret. */
  readonly stderr?: string | undefined;
}

/** So that a configuration of hundreds does not start as many processes at once. */
const AT_ONCE = 8;

export async function check({ options }: Arguments): Promise<number> {
  const servers = await readServers(options.config);
  exitWhenInterrupted();
  // What the first dial would load is no part of how long a server takes.
  await preload([...servers.values()].map(({ kind }) => kind));
  await using supervisor = createSupervisor({ clientInfo: { name: 'mcp-steward', version: VERSION } });
  const checks = [...servers].map(([name, transport]) => ({
    handle: supervisor.own(name, { transport, lazy: true, recovery: { maxAttempts: 1 } }),
    transport,
  }));
  /** In the order of the configuration. */
  const reports: Report[] = [];
  const waiting = checks.entries();
  const checkSome = async () => {
    for (const [index, { handle, transport }] of waiting) {
      const report = await reportOn(handle, transport);
      reports[index] = report;
      if (!options.json) process.stdout.write(linesOf(report));
      await handle.close();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, checkSome));
  if (options.json) process.stdout.write(`${JSON.stringify({ servers: reports }, null, 2)}\n`);
  return reports.every(({ ok }) => ok) ? 0 : 1;
}

async function reportOn(handle: OwnedConnection, transport: OwnedTransport): Promise<Report> {
  const begun = performance.now();
  let connectMs: number | undefined;
  const elapsed = () => Math.round(performance.now() - begun);
  try {
    await handle.reconnect();
    connectMs = elapsed();
    return { server: handle.name, ok: true, connectMs, offer: await offerOf(handle) };
  } catch (error) {
    const { stderr = '' } = (error instanceof SupervisorError && error.evidence?.process) || {};
    const hint = connectMs === undefined ? hintFor(error, transport) : '';
    const told = { error: `${textOf(error)}${hint}`, ...(stderr ? { stderr } : {}) };
    return { server: handle.name, ok: false, connectMs: connectMs ?? elapsed(), ...told };
  }
}

/** A server's own words may hold anything: only the code of its error is told. */
function textOf(error: unknown): string {
  if (error instanceof SupervisorError) {
    if (error.evidence === undefined) return error.message;
    return `${CAUSE_TEXT[error.evidence.cause]}.${processText(error.evidence.process)}`;
  }
  if (error instanceof EndlessListError) return `it connected, but ${error.message}`;
  const { code } = Object(error) as { code?: unknown };
  return `it connected, and then a list failed${typeof code === 'number' ? ` (${code})` : ''}`;
}

/** What a server of the older transport answers to a first request of the newer one ("Backwards Compatibility" in the MCP specification). */
function hintFor(error: unknown, { kind }: OwnedTransport): string {
  const { code } = Object(Object(error).cause) as { code?: unknown };
  const mayBeOlder = kind === 'http' && (code === 404 || code === 405);
  return mayBeOlder ? ` It answered ${code}: it may speak the older HTTP+SSE, "type": "sse".` : '';
}

function linesOf({ server, ok, connectMs, offer, error, stderr = '' }: Report): string {
  const verdict = ok ? pc.green('ok') : pc.red('failed');
  const head = `${pc.bold(printable(server))}  ${verdict}  ${connectMs} ms`;
  if (offer === undefined) {
    const said = stderr
      .split('\n')
      .filter(Boolean)
      .map((line) => `  | ${printable(line)}\n`);
    return `${head}\n  ${error}\n${said.join('')}`;
  }
  const { name, version, ...lists } = offer;
  const offered = Object.entries(lists).map(
    ([what, names]) => `  ${names.length} ${what}${names.length > 0 ? `: ${names.join(', ')}` : ''}`,
  );
  return `${[`${head}  ${printable(`${name} ${version}`)}`, ...offered.map(printable)].join('\n')}\n`;
}
