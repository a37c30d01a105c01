/** A host in a process of its own, with an observer that is slower than what it is told, that ends by itself. */
import { createSupervisor } from '../../src/index.ts';

let ends = 0;
const supervisor = createSupervisor({
  clientInfo: { name: 'host', version: '1.0.0' },
  inspect: (event) => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    if (event.type === '@xstate.snapshot' && event.snapshot.status !== 'active') ends++;
  },
});
const handles = Array.from({ length: 20 }, (_, n) =>
  supervisor.own(`c${n}`, { connect: () => Promise.reject(new Error('never')), lazy: true }),
);
await supervisor.close();
process.once('exit', () => console.log(`${handles.length} connections, ${ends >= handles.length}`));
