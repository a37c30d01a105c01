/** An OAuth provider as a host writes it, with private fields, which counts what it is asked for. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';

export interface HostProviderOptions {
  readonly client?: OAuthClientInformationMixed;
  readonly clientMetadataUrl?: string;
  readonly tokens?: OAuthTokens;
  readonly scope?: string;
  readonly redirectUrl?: string;
  /** How the host asks the person. */
  readonly ask?: (url: URL) => void | Promise<void>;
}

export class HostProvider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  /** The pages that were opened. */
  readonly tabs: URL[] = [];
  /** How often the tokens were read. */
  reads = 0;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #states = 0;
  readonly #scope: string | undefined;
  readonly #redirectUrl: string;
  #ask: HostProviderOptions['ask'];

  constructor({ client, clientMetadataUrl, tokens, scope, ask, redirectUrl }: HostProviderOptions) {
    this.#client = client;
    this.#tokens = tokens;
    this.#scope = scope;
    this.#ask = ask;
    this.#redirectUrl = redirectUrl ?? 'http://localhost:3000/callback';
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }

  get redirectUrl() {
    return this.#redirectUrl;
  }

  get clientMetadata() {
    const scope = this.#scope === undefined ? {} : { scope: this.#scope };
    return { client_name: 'host', redirect_uris: [this.#redirectUrl], ...scope };
  }

  state() {
    return `state-${++this.#states}`;
  }

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed) {
    this.#client = client;
  }

  tokens() {
    this.reads++;
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens) {
    this.#tokens = tokens;
  }

  async redirectToAuthorization(url: URL) {
    this.tabs.push(url);
    await this.#ask?.(url);
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }

  codeVerifier() {
    return this.#verifier;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery') {
    if (scope === 'all' || scope === 'client') this.#client = undefined;
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined;
  }
}

export function hostProvider(options: HostProviderOptions = {}): HostProvider {
  return new HostProvider(options);
}
