/** How to run the real `@modelcontextprotocol/server-everything`, with what it receives written down. */
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const COUNT = new URL('./servers/count.mjs', import.meta.url).href;

export function everything(transport: 'streamableHttp' | 'stdio'): string[] {
  return ['--import', COUNT, SCRIPT, transport];
}
