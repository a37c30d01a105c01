/** The program that the conformance suite starts for each scenario: an owned handle, used as a host would. */

import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { createSupervisor } from '../../src/index.ts';
import { type HostProvider, hostProvider } from '../support/host-provider.ts';

/** What the suite tells a client of its scenario. */
interface Context {
  client_id: string;
  client_secret: string;
  private_key_pem: string;
  signing_algorithm: string;
  idp_client_id: string;
  idp_id_token: string;
  idp_token_endpoint: string;
}

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context;
const serverUrl = process.argv.at(-1) as string;

/** SEP-990: the identity provider's token is exchanged for one that the authorization server takes. */
function crossAppAccess(): OAuthClientProvider {
  const { client_id, client_secret, idp_client_id, idp_id_token, idp_token_endpoint } = context;
  let authorizationServer = '';
  let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  const oauth = 'urn:ietf:params:oauth';
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], token_endpoint_auth_method: 'client_secret_basic' },
    clientInformation: () => ({ client_id, client_secret }),
    tokens: () => tokens,
    saveTokens(saved) {
      tokens = saved;
    },
    redirectToAuthorization: () => Promise.reject(new Error('nobody is to be asked')),
    saveCodeVerifier() {},
    codeVerifier: () => '',
    saveDiscoveryState(state) {
      authorizationServer = String(state.authorizationServerMetadata?.issuer);
    },
    async prepareTokenRequest() {
      const response = await fetch(idp_token_endpoint, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: `${oauth}:grant-type:token-exchange`,
          requested_token_type: `${oauth}:token-type:id-jag`,
          audience: authorizationServer,
          resource: serverUrl,
          subject_token: idp_id_token,
          subject_token_type: `${oauth}:token-type:id_token`,
          client_id: idp_client_id,
        }),
      });
      const { access_token } = (await response.json()) as { access_token: string };
      return new URLSearchParams({ grant_type: `${oauth}:grant-type:jwt-bearer`, assertion: access_token });
    },
  };
}

function providerOf(): OAuthClientProvider | HostProvider {
  const { client_id: clientId, client_secret: clientSecret } = context;
  switch (scenario) {
    case 'auth/client-credentials-jwt': {
      const { private_key_pem: privateKey, signing_algorithm: algorithm } = context;
      return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm });
    }
    case 'auth/client-credentials-basic':
      return new ClientCredentialsProvider({ clientId, clientSecret });
    case 'auth/cross-app-access-complete-flow':
      return crossAppAccess();
    case 'auth/pre-registration':
      return hostProvider({ client: { client_id: clientId, client_secret: clientSecret } });
    default:
      return hostProvider({ clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' });
  }
}

const supervisor = createSupervisor({ clientInfo: { name: 'conformance', version: '1.0.0' } });
const handle = supervisor.own('server', {
  transport: { kind: 'http', url: serverUrl, authProvider: providerOf() },
});
handle.on('authorization-required', async ({ url }) => {
  const page = await fetch(url, { redirect: 'manual' });
  await handle.finishAuth(page.headers.get('location') as string);
});
try {
  await handle.listTools();
  await handle.callTool({ name: 'test-tool', arguments: {} });
} finally {
  await supervisor.close();
}
