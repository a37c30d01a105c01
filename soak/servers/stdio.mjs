// The soak's server over stdio: [journal, connection, marker file] in argv. It ends with its stdin.
import { writeFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { openJournal } from './journal.mjs';
import { createServer } from './mcp.mjs';

const [journalPath, connection, pidPath] = process.argv.slice(2);
const journal = openJournal(journalPath);
writeFileSync(pidPath, String(process.pid));
journal.write('spawn', { connection });
process.stdin.on('end', () => process.exit(0));

const server = createServer(journal, { session: undefined, answersJson: false });
server.oninitialized = () => journal.write('initialized', { connection });
await server.connect(new StdioServerTransport());
