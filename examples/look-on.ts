/** A running host, looked at in two ways: on its local page, and by a client of the Stately inspector. */
import { strict as assert } from 'node:assert';
import { createWebSocketReceiver } from '@statelyai/inspect';
import { createSupervisor } from 'mcp-steward';
import { statelyInspector } from 'mcp-steward/inspect';
import { FaultServer } from 'mcp-steward/testing';

await using server = await FaultServer.start();
await using inspector = statelyInspector(); // { open: true } opens Stately's viewer in the browser
await using supervisor = createSupervisor({
  clientInfo: { name: 'my-host', version: '1.0.0' },
  inspect: inspector,
});
const files = supervisor.own('files', { transport: server.target });
await files.callTool({ name: 'append', arguments: { key: 'a' } });

// Whoever has the address, with its token, can look; nobody else.
await using page = await supervisor.page();
assert.equal((await fetch(page.url)).status, 200);
assert.equal((await fetch(new URL(page.url).origin)).status, 401);

// What a viewer is sent: every connection as an actor under its name, with its states.
const receiver = createWebSocketReceiver({ server: (await inspector.url).href.replace('http', 'ws') });
const name = await new Promise((resolve) => {
  receiver.subscribe((event) => {
    if (event.type === '@xstate.actor') resolve(event.name);
  });
});
assert.equal(name, 'files');
