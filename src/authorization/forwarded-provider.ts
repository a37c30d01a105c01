/**
 * The host's provider as the SDK's authorization flow sees it. Every call is forwarded, also where the host's class
 * has private fields; what the host does not define is not there, because the SDK asks for it.
 */
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';

export interface FlowHooks {
  /** The person has to be asked: a refresh would not give what is wanted. */
  readonly hidesRefreshToken: boolean;
  /** Where the authorization server was found. */
  discovered(state: OAuthDiscoveryState): void;
  /** Throws where no login may begin. */
  beforeLogin(): void;
  /** A login begins; `ask` is the host's own way to ask the person. */
  login(url: URL, ask: () => Promise<void>): Promise<void>;
}

/** Without hooks it only forwards. */
export function forwardedProvider(provider: OAuthClientProvider, hooks?: FlowHooks): OAuthClientProvider {
  return {
    get redirectUrl() {
      return provider.redirectUrl;
    },
    get clientMetadata() {
      return provider.clientMetadata;
    },
    ...(provider.clientMetadataUrl !== undefined && { clientMetadataUrl: provider.clientMetadataUrl }),
    ...(provider.state && {
      state: () => {
        hooks?.beforeLogin();
        return (provider.state as () => string | Promise<string>).call(provider);
      },
    }),
    clientInformation: () => provider.clientInformation(),
    ...(provider.saveClientInformation && {
      saveClientInformation: (information) => provider.saveClientInformation?.(information),
    }),
    async tokens() {
      const tokens = await provider.tokens();
      if (!tokens || !hooks?.hidesRefreshToken) return tokens;
      const { refresh_token, ...shown } = tokens;
      return shown;
    },
    saveTokens: (tokens) => provider.saveTokens(tokens),
    redirectToAuthorization(url) {
      const ask = async () => provider.redirectToAuthorization(url);
      return hooks === undefined ? ask() : hooks.login(url, ask);
    },
    saveCodeVerifier(verifier) {
      hooks?.beforeLogin();
      return provider.saveCodeVerifier(verifier);
    },
    codeVerifier: () => provider.codeVerifier(),
    ...(provider.addClientAuthentication && {
      addClientAuthentication: (...request) => provider.addClientAuthentication?.(...request),
    }),
    ...(provider.validateResourceURL && {
      validateResourceURL: async (serverUrl, resource) => provider.validateResourceURL?.(serverUrl, resource),
    }),
    ...(provider.invalidateCredentials && {
      invalidateCredentials: (scope) => provider.invalidateCredentials?.(scope),
    }),
    ...(provider.prepareTokenRequest && {
      prepareTokenRequest: (scope) => provider.prepareTokenRequest?.(scope),
    }),
    async saveDiscoveryState(state) {
      hooks?.discovered(state);
      await provider.saveDiscoveryState?.(state);
    },
    ...(provider.discoveryState && {
      async discoveryState() {
        const state = await provider.discoveryState?.();
        if (state) hooks?.discovered(state);
        return state;
      },
    }),
  };
}
