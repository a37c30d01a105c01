// One server process over stdio: the folder of its FaultServer in argv[2]. It ends when its stdin ends.
import { createInterface } from 'node:readline';
import { joinControl } from './control.mjs';
import { answerTo } from './mcp.mjs';

const { note, reactionTo } = await joinControl(process.argv[2], {});

process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  note('arrived', { method: message.method });
  const reaction = await reactionTo(message.method);
  switch (reaction) {
    case 'refuse':
      return process.exit(1);
    case 'ignore':
      return;
    case 'garbage':
      return process.stdout.write('this is not JSON\n');
  }
  // `forbid` too: it strikes the next process, which the FaultServer lets nobody spawn.
  const answer = answerTo(message, note);
  if (reaction === 'lose-answer') return process.exit(1);
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
});
