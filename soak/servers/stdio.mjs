// The soak's server over stdio: [journal, connection, file for its pid] in argv. It ends with its stdin.
import { writeFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { openJournal } from './journal.mjs';
import { serve } from './mcp.mjs';

const [journalPath, connection, pidPath] = process.argv.slice(2);
const journal = openJournal(journalPath);
writeFileSync(pidPath, String(process.pid));
journal.write('spawn', { connection });
process.stdin.on('end', () => process.exit(0));

await serve(journal, new StdioServerTransport(), { connection });
