/** A host in a process of its own: it serves its page, tells the address, and has nothing more to do once told so. */
import { createSupervisor } from '../../src/index.ts';
import { servePage } from '../../src/inspect/page/serve-page.ts';

const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
supervisor.own('search', { connect: () => Promise.reject(new Error('never')), lazy: true });
const { url } = await servePage(supervisor);
process.send?.(url);
process.once('message', () => process.disconnect());
