// What a server of the demo writes down about itself. The client has no say in it.
import { appendFileSync } from 'node:fs';

export function note(event, what = '') {
  appendFileSync(process.env.DEMO_LEDGER, `${JSON.stringify({ event, what, pid: process.pid })}\n`);
}
