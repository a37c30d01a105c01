// What the SDKs throw out of a sign-in of their own: each as they throw it.
import {
  OAuthError as OAuthError2,
  type OAuthErrorCode,
  RegistrationRejectedError,
  UnauthorizedError as Unauthorized2,
} from '@modelcontextprotocol/client';
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthMetadata,
  fetchToken,
  parseErrorResponse,
  registerClient,
  selectResourceURL,
  startAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { OAUTH_ERRORS } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { expect, it } from 'vitest';
import { HostProvider } from '../support/host-provider.ts';
import { judge, say } from './judge.ts';
import { fetchFailed, system } from './sdk-errors.ts';

const PASSING = ['server_error', 'temporarily_unavailable', 'too_many_requests'];
const AS = 'https://as.example';
const METADATA = {
  issuer: AS,
  authorization_endpoint: `${AS}/authorize`,
  token_endpoint: `${AS}/token`,
  response_types_supported: ['code'],
};
const answers = (status: number) => async () => new Response('{}', { status });

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

it.each(Object.keys(OAUTH_ERRORS))('%s, in both SDKs', async (code) => {
  const expected = PASSING.includes(code) ? 'authorization-unavailable' : 'unauthorized';
  const error = await parseErrorResponse(JSON.stringify({ error: code, error_description: 'so' }));
  expect(say(judge(error))).toBe(`usable none ${expected}`);
  expect(say(judge(new OAuthError2(code as OAuthErrorCode, 'so')))).toBe(`usable none ${expected}`);
});

it.each<[string, () => unknown]>([
  ['a login is needed (v1)', () => Promise.reject(new UnauthorizedError())],
  ['a login is needed (v2)', () => Promise.reject(new Unauthorized2())],
  [
    'the resource is another',
    () => {
      const metadata = { resource: 'https://evil.example/mcp' };
      return selectResourceURL('https://mcp.example/mcp', new HostProvider({}), metadata);
    },
  ],
  [
    'no dynamic registration',
    () => registerClient(AS, { metadata: METADATA, clientMetadata: { redirect_uris: [AS] } }),
  ],
  [
    'another response type',
    () =>
      startAuthorization(AS, {
        metadata: { ...METADATA, response_types_supported: ['token'] },
        clientInformation: { client_id: 'c' },
        redirectUrl: AS,
      }),
  ],
  ['nothing to exchange', () => fetchToken(new HostProvider({}), AS, {})],
  [
    'credentials of another authorization server',
    () =>
      fetchToken(new HostProvider({ client: { client_id: 'c', issuer: 'https://other.example' } }), AS, {}),
  ],
])('%s', async (_what, work) => {
  expect(say(judge(await thrownBy(work)))).toBe('usable none unauthorized');
});

it.each<[string, () => unknown]>([
  ['metadata, HTTP 500', () => discoverAuthorizationServerMetadata(AS, { fetchFn: answers(500) })],
  ['the older metadata, HTTP 503', () => discoverOAuthMetadata(AS, {}, answers(503))],
])('%s', async (_what, work) => {
  expect(say(judge(await thrownBy(work)))).toBe('usable none authorization-unavailable');
});

/** SDK v2 marks what comes out of its sign-in. */
const ofSignIn = (error: object) => Object.assign(error, { [Symbol.for('mcp.authSeamEscape')]: true });

it('whatever comes out of the sign-in of SDK v2 is no word of the MCP server', () => {
  const refused = () => fetchFailed(system('ECONNREFUSED', 'connect'));
  expect(say(judge(refused()))).toBe('suspect none unreachable');
  expect(say(judge(ofSignIn(refused() as object)))).toBe('usable none authorization-unavailable');
  expect(say(judge(ofSignIn(new Error('the keychain is locked'))))).toBe('usable none unauthorized');
  const rejected = (status: number) =>
    ofSignIn(new RegistrationRejectedError({ status, body: '', submittedMetadata: { redirect_uris: [] } }));
  expect(say(judge(rejected(400)))).toBe('usable none unauthorized');
  expect(say(judge(rejected(503)))).toBe('usable none authorization-unavailable');
  expect(say(judge(ofSignIn(new DOMException('late', 'TimeoutError'))))).toBe(
    'usable none authorization-unavailable',
  );
});

it('an errorCode that is no text says nothing', () => {
  expect(say(judge(Object.assign(new Error('x'), { errorCode: 7 })))).toBe('suspect unknown unrecognised');
});
