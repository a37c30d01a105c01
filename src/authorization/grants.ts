/** What the flows of one provider have brought: for which server, and how far it reaches. */
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { covers, scopesOf, union } from './scopes.ts';
import { tokenDigest } from './token-digest.ts';

export type Scopes = ReadonlySet<string>;

/** Why tokens were refused: 401, or 403 with `insufficient_scope`. */
export type Refusal = 'token' | 'scope';

export type Fitness = 'fit' | 'too-narrow' | 'of-another-server';

interface Grant {
  readonly digest: string;
  /** As the authorization server said, or else as was asked. */
  readonly scopes: Scopes;
  /** What the person was asked for: asking again would bring nothing new. */
  readonly asked: Scopes;
  /** What it was wanted for, which a refresh does not ask for. */
  readonly wanted: Scopes;
}

const NONE: Scopes = new Set();

export class Grants {
  /** The last one of each server, by its URL. */
  readonly #byServer = new Map<string, Grant>();

  /** `asked`: undefined after a refresh, which keeps the scopes that there were. */
  async note(
    serverUrl: string,
    tokens: OAuthTokens,
    wanted: Scopes,
    asked: Scopes | undefined,
  ): Promise<void> {
    const kept = asked ?? this.#byServer.get(serverUrl)?.scopes ?? NONE;
    this.#byServer.set(serverUrl, {
      digest: await tokenDigest(tokens),
      scopes: tokens.scope === undefined ? kept : scopesOf(tokens.scope),
      asked: asked ?? NONE,
      wanted,
    });
  }

  /** The scopes of these tokens; undefined where they are not known. */
  async scopesOf(serverUrl: string, tokens: OAuthTokens): Promise<Scopes | undefined> {
    if (tokens.scope !== undefined) return scopesOf(tokens.scope);
    return (await this.#grantOf(serverUrl, tokens))?.scopes;
  }

  /** The person was asked for all of that, and these tokens are the answer. */
  async wereAskedFor(serverUrl: string, tokens: OAuthTokens, wanted: Scopes): Promise<boolean> {
    const grant = await this.#grantOf(serverUrl, tokens);
    return grant !== undefined && covers(grant.asked, wanted);
  }

  /** Will these tokens do, for all that is known? */
  async judge(serverUrl: string, tokens: OAuthTokens, wanted: Scopes, refusal: Refusal): Promise<Fitness> {
    const digest = await tokenDigest(tokens);
    const grant = this.#byServer.get(serverUrl);
    if (grant?.digest === digest) {
      const reach = union(grant.scopes, grant.asked);
      return covers(refusal === 'token' ? union(reach, grant.wanted) : reach, wanted) ? 'fit' : 'too-narrow';
    }
    for (const other of this.#byServer.values()) if (other.digest === digest) return 'of-another-server';
    // No flow of ours has brought these.
    if (refusal === 'token' || tokens.scope === undefined) return 'fit';
    return covers(scopesOf(tokens.scope), wanted) ? 'fit' : 'too-narrow';
  }

  async #grantOf(serverUrl: string, tokens: OAuthTokens): Promise<Grant | undefined> {
    const grant = this.#byServer.get(serverUrl);
    return grant?.digest === (await tokenDigest(tokens)) ? grant : undefined;
  }
}
