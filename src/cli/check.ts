/** `mcp-steward check`: one connection to every server, once. */
import { performance } from 'node:perf_hooks';
import pc from 'picocolors';
import { CAUSE_TEXT } from '../cause-text.ts';
import { processText, SupervisorError } from '../errors.ts';
import type { OwnedConnection } from '../handles.ts';
import { createSupervisor } from '../supervisor.ts';
import { VERSION } from '../version.ts';
import type { Arguments } from './arguments.ts';
import { readServers } from './config.ts';
import { exitWhenInterrupted } from './interrupt.ts';
import { type Offer, offerOf } from './offer.ts';
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

export async function check({ options }: Arguments): Promise<number> {
  const servers = readServers(options.config);
  exitWhenInterrupted();
  await using supervisor = createSupervisor({ clientInfo: { name: 'mcp-steward', version: VERSION } });
  const handles = [...servers].map(([name, transport]) =>
    supervisor.own(name, { transport, lazy: true, recovery: { maxAttempts: 1 } }),
  );
  const reports = await Promise.all(handles.map(reportOn));
  if (options.json) process.stdout.write(`${JSON.stringify({ servers: reports }, null, 2)}\n`);
  else for (const report of reports) process.stdout.write(linesOf(report));
  return reports.every(({ ok }) => ok) ? 0 : 1;
}

async function reportOn(handle: OwnedConnection): Promise<Report> {
  const begun = performance.now();
  let connectMs: number | undefined;
  const elapsed = () => Math.round(performance.now() - begun);
  try {
    await handle.reconnect();
    connectMs = elapsed();
    return { server: handle.name, ok: true, connectMs, offer: await offerOf(handle) };
  } catch (error) {
    const { stderr } = (error instanceof SupervisorError && error.evidence?.process) || {};
    const told = { error: textOf(error), ...(stderr ? { stderr } : {}) };
    return { server: handle.name, ok: false, connectMs: connectMs ?? elapsed(), ...told };
  }
}

/** A server's own words may hold anything: only the code of its error is told. */
function textOf(error: unknown): string {
  if (error instanceof SupervisorError) {
    if (error.evidence === undefined) return error.message;
    return `${CAUSE_TEXT[error.evidence.cause]}.${processText(error.evidence.process)}`;
  }
  const { code } = Object(error) as { code?: unknown };
  return `it connected, and then a list failed${typeof code === 'number' ? ` (${code})` : ''}`;
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
