import { it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled } from '../support/owned.ts';
it('dbg', async () => {
  await using server = await startServer();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()), { evidence: { classify: (e) => { console.log(e, (e as any).cause); return undefined; } } });
  await owned.ready();
  await proxy.cutNextConnection('fin', 2);
  console.log(await settled(callTool(owned, 'append', { key: 'x' })), proxy.posts('tools/call'), owned.transitions, proxy.connections);
});
