/** An authorization server, a server that it protects, and what a host gives as `authProvider`: anew for each test. */
import { afterEach, beforeEach } from 'vitest';
import {
  type AuthorizationServer,
  authorizationServer,
  CLIENT,
  REDIRECT_URL,
} from './authorization-server.ts';
import { type HostProvider, hostProvider } from './host-provider.ts';
import { type ProtectedServer, protectedServer } from './protected-server.ts';

export let authorization: AuthorizationServer;
export let server: ProtectedServer;
export let provider: HostProvider;

beforeEach(async () => {
  authorization = await authorizationServer();
  server = await protectedServer(authorization);
  provider = hostProvider({ client: CLIENT, redirectUrl: REDIRECT_URL, scope: 'read' });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});
