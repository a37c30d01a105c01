// A thing of which there is one: a port or a lock file. A process that finds it taken exits with code 1.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** @param {'lock' | 'port'} kind @param {string} ledgerPath @param {{ write(event: string, facts?: object): void }} ledger */
export async function takeExclusively(kind, ledgerPath, ledger) {
  if (kind === 'lock' ? takeLock(ledgerPath) : await takePort(ledgerPath)) return;
  ledger.write('clash', { kind });
  process.exit(1);
}

/** The lock is held for as long as its process lives. */
function takeLock(ledgerPath) {
  const path = `${ledgerPath}.lock`;
  if (existsSync(path) && isAlive(Number(readFileSync(path, 'utf8')))) return false;
  giveLock(ledgerPath, process.pid);
  return true;
}

export function giveLock(ledgerPath, pid) {
  writeFileSync(`${ledgerPath}.lock`, String(pid));
}

async function takePort(ledgerPath) {
  const path = `${ledgerPath}.port`;
  const port = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.unref();
  writeFileSync(path, String(server.address().port));
  return true;
}

function isAlive(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2)[0]);
  } catch {
    return false;
  }
}
