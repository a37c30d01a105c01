// One server process over stdio: the folder of its FaultServer in argv[2]. It ends when its stdin ends.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { joinControl } from './control.mjs';
import { createMcpServer } from './mcp.mjs';

const { note, reactionTo } = await joinControl(process.argv[2], {});

process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));

const transport = new StdioServerTransport();
/** The ids of the requests whose answers are to be lost. */
const losing = new Set();

const send = transport.send.bind(transport);
transport.send = async (message) => {
  if (message.method === undefined && losing.has(message.id)) process.exit(1);
  return send(message);
};
await createMcpServer(note).connect(transport);

const run = transport.onmessage;
transport.onmessage = async (message) => {
  note('arrived', { method: message.method });
  switch (await reactionTo(message.method)) {
    case 'refuse':
      return process.exit(1);
    case 'ignore':
      return;
    case 'garbage':
      return process.stdout.write('this is not JSON\n');
    case 'lose-answer':
      losing.add(message.id);
  }
  // `forbid` too: it strikes the next process, which the FaultServer lets nobody spawn.
  return run(message);
};
