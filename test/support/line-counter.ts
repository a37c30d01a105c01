import type { StdioDescription } from '../../src/transports/stdio.ts';

/** Answers each line with its length, so that what reached it can be told from what was sent. Ends with its stdin. */
const SCRIPT = `
let length = 0;
process.stdin.on('data', (chunk) => {
  let from = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
    const message = { jsonrpc: '2.0', method: 'line', params: { length: length + end - from } };
    process.stdout.write(JSON.stringify(message) + '\\n');
    length = 0;
    from = end + 1;
  }
  length += chunk.length - from;
});`;

/** A child that needs no MCP: for what a transport does below it. */
export const lineCounter: StdioDescription = { command: process.execPath, args: ['-e', SCRIPT] };
