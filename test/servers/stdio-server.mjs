// The same server over stdio: options in argv[2] as JSON. It ends when its stdin ends and nothing is
// running any more, unless it was told to be stubborn.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createServer } from './era-v1.mjs';
import { takeExclusively } from './exclusive.mjs';
import { Faults, inBandAnswer } from './faults.mjs';
import { noteDelivered, openLedger } from './ledger.mjs';

const options = { transport: 'stdio', ...JSON.parse(process.argv[2] ?? '{}') };
const ledger = openLedger(options.ledger);
const faults = new Faults(options.faults);

ledger.write('spawn', { ppid: process.ppid });
if (options.exclusive) await takeExclusively(options.exclusive, options.ledger, ledger);
if (options.stderr) process.stderr.write(options.stderr);
if (options.stubborn) {
  // Ignores SIGTERM and the end of its stdin; still not for ever.
  process.on('SIGTERM', () => ledger.write('sigterm'));
  setTimeout(() => process.exit(0), 60_000);
}
// A tool that is still running may finish, but not for ever.
process.stdin.on('end', () => setTimeout(() => process.exit(0), 15_000).unref());

const transport = new StdioServerTransport();
const { server, subscribed } = createServer({
  options,
  ledger,
  session: null,
  toolsVersion: options.toolsVersion ?? 1,
  evict: () => process.exit(0),
});
await server.connect(transport);

const deliver = transport.onmessage;
transport.onmessage = async (message) => {
  ledger.write('request', {
    method: message.method ?? null,
    id: message.id,
    session: null,
    ...(message.method === 'tools/call' && {
      tool: message.params?.name,
      key: message.params?.arguments?.key,
    }),
  });
  const fault = message.method && faults.take(message.method);
  if (!fault) return pass(message);
  ledger.write('fault', { kind: fault.kind, on: message.method });
  if (fault.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
  if (fault.kind === 'delay' || fault.when === 'after') {
    if (fault.when === 'after') instead.set(message.id, fault);
    return pass(message);
  }
  return apply(fault, message.id);
};

/** Faults that strike when the real answer to this request is ready. */
const instead = new Map();
const send = transport.send.bind(transport);
transport.send = async (message) => {
  const fault = message.method === undefined ? instead.get(message.id) : undefined;
  if (fault === undefined) return send(message);
  instead.delete(message.id);
  // The one fault that lets the answer out: it dies right after it.
  if (fault.kind === 'exit') await send(message);
  return apply(fault, message.id);
};

function apply(fault, id) {
  switch (fault.kind) {
    case 'never':
      return;
    case 'exit':
      return void process.stdout.write('', () => process.exit(fault.code ?? 3));
    case 'broken-json':
      return void process.stdout.write('{"jsonrpc":"2.0","id":\n');
  }
  const answer = inBandAnswer(fault, id);
  if (answer === undefined) throw new Error(`no fault of stdio: ${fault.kind}`);
  return send(answer);
}

function pass(message) {
  noteDelivered(ledger, message, null);
  deliver(message);
}

// `kill -USR2`: each subscribed resource was updated, the list of tools changed.
process.on('SIGUSR2', () => {
  for (const uri of subscribed) void server.server.sendResourceUpdated({ uri });
  server.sendToolListChanged();
});
