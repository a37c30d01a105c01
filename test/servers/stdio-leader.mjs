// A wrapper, as `npx` is: it starts the real server as its child with the same pipes, and stays.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openLedger } from './ledger.mjs';

const options = JSON.parse(process.argv[2] ?? '{}');
openLedger(options.ledger).write('leader');
const child = spawn(
  process.execPath,
  [fileURLToPath(new URL('stdio-server.mjs', import.meta.url)), process.argv[2] ?? '{}'],
  {
    stdio: 'inherit',
  },
);
child.once('exit', (code) => process.exit(code ?? 1));
if (options.leaderExitsAfterMs !== undefined) setTimeout(() => process.exit(0), options.leaderExitsAfterMs);
