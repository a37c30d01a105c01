/** `mcp-steward inspect`: the local page of the servers of a configuration, until Ctrl+C. */
import { openInBrowser } from '../inspect/open-in-browser.ts';
import { servePage } from '../inspect/page/serve-page.ts';
import type { Arguments } from './arguments.ts';
import { readServers } from './config.ts';
import { untilInterrupted } from './interrupt.ts';
import { codeOf, supervise } from './supervise.ts';
import { UsageError } from './usage-error.ts';

export async function inspect({ options }: Arguments): Promise<number> {
  const servers = await readServers(options.config);
  const port = portOf(options.port);
  const { supervisor, connect } = supervise(servers);
  const page = await servePage(supervisor, { port }).catch((error: NodeJS.ErrnoException) => {
    // Nothing has been opened yet.
    if (error.syscall === 'listen') throw new UsageError(`port ${port}: ${error.code}`);
    throw error;
  });
  connect();
  process.stdout.write(`${page.url}\n`);
  if (options.open) openInBrowser(new URL(page.url));
  await untilInterrupted();
  const code = codeOf(supervisor);
  await page.close();
  await supervisor.close();
  return code;
}

function portOf(text = '0'): number {
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`--port: "${text}" is no port`);
  return Number(text);
}
