/** As far as it is used here: the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Granted {
    readonly oidc: { readonly params?: { readonly grant_type?: string } };
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (of: {
      accountId: string;
      clientId: string;
    }) => Grant;
    readonly AccessToken: { find(token: string): Promise<{ readonly scope?: string } | undefined> };
    callback(): (req: IncomingMessage, res: ServerResponse) => void;
    on(event: 'grant.success' | 'grant.error', listener: (granted: Granted) => void): void;
    interactionDetails(
      req: IncomingMessage,
      res: ServerResponse,
    ): Promise<{
      readonly params: Readonly<Record<string, unknown>>;
      readonly session?: { readonly accountId: string };
    }>;
    interactionFinished(
      req: IncomingMessage,
      res: ServerResponse,
      result: object,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>;
  }
}
