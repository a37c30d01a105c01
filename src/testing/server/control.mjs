// The line to the FaultServer: it starts with an introduction, brings orders, and when it breaks this process ends.
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGate } from './gate.mjs';
import { openLedger } from './ledger.mjs';

/**
 * Resolves when this process is known and knows the reactions; nothing may be read from a client before.
 * @param {string} folder
 * @param {Record<string, (argument: any) => unknown>} orders what can be ordered of this process, besides `when`
 */
export function joinControl(folder, orders) {
  const { port, token } = JSON.parse(readFileSync(join(folder, 'control.json'), 'utf8'));
  const socket = createConnection(port, '127.0.0.1');
  socket.on('error', () => {}); // `close` follows
  socket.on('close', () => process.exit(0));
  const say = (message) => socket.write(`${JSON.stringify(message)}\n`);
  say({ token, pid: process.pid });

  const lines = createInterface({ input: socket });
  return new Promise((resolve) => {
    lines.once('line', (welcome) => {
      const { number, reactions } = JSON.parse(welcome);
      const { note } = openLedger(folder, number);
      const gate = createGate(reactions, (now) => note('held', { now }));
      lines.on('line', async (line) => {
        const { order, name, argument } = JSON.parse(line);
        const result = await (name === 'when' ? gate.when(argument) : orders[name](argument));
        say({ order, result });
      });
      resolve({ note, reactionTo: gate.reactionTo });
    });
  });
}
