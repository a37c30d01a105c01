/** The sign-in of one connection: what it needs of its provider's authorization, and whom it tells. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { HttpDescription, OwnedTransport } from '../transports/recipe.ts';
import { Authorization } from './authorization.ts';
import type { Callback } from './callback.ts';
import type { Login } from './login.ts';
import { ofSignIn } from './sign-in-errors.ts';
import { type RequestFacts, SignedFetch } from './signed-fetch.ts';
import { tokenDigest } from './token-digest.ts';

/** What a connection hears of its sign-in. */
export interface SignInListener {
  /** Somebody has been asked to tell of logins. */
  isHeard(): boolean;
  /** A person has to sign in, at this URL. */
  required(url: URL, generation: number): void;
  /** There are other tokens than those that were refused: the connection may be dialled. */
  authorized(): void;
  /** Those who wait are to be answered anew. */
  changed(): void;
}

export type SignInTransport = HttpDescription & { readonly kind: 'http' | 'sse' };

const byProvider = new WeakMap<OAuthClientProvider, Authorization>();

function authorizationOf(provider: OAuthClientProvider): Authorization {
  let authorization = byProvider.get(provider);
  if (authorization === undefined) {
    authorization = new Authorization(provider);
    byProvider.set(provider, authorization);
  }
  return authorization;
}

export class SignIn {
  readonly authorization: Authorization;
  readonly serverUrl: string;
  /** HTTP+SSE: everything comes on the one stream. */
  readonly isLegacy: boolean;
  /** Without the headers that are meant for the MCP server. */
  readonly flowFetch: typeof fetch;
  readonly #waits: boolean;
  #listener!: SignInListener;
  /** The last login that a request of this connection needed. */
  #login: Login | undefined;
  #wasTold = false;
  #needed: object | undefined;
  /** Digest of the tokens that were refused last. */
  #refused: string | undefined;
  #isReading = false;
  readonly #awaitingChange = new Set<() => void>();

  /** Nothing, where the host gave no `authProvider`. `waits`: calls may wait for a person. */
  static of(transport: OwnedTransport | undefined, waits: boolean): SignIn | undefined {
    if (transport === undefined || transport.kind === 'stdio') return undefined;
    const { authProvider } = transport;
    return authProvider && new SignIn(transport, authProvider, waits);
  }

  private constructor(
    { kind, url, fetch = globalThis.fetch }: SignInTransport,
    provider: OAuthClientProvider,
    waits: boolean,
  ) {
    this.isLegacy = kind === 'sse';
    this.authorization = authorizationOf(provider);
    this.serverUrl = new URL(url).href;
    this.flowFetch = fetch;
    this.#waits = waits;
  }

  join(listener: SignInListener): void {
    this.#listener = listener;
    this.authorization.parties.add(listener);
  }

  leave(): void {
    this.authorization.parties.delete(this.#listener);
  }

  /** What this connection cannot go on for: what ended its login, or that a person has to sign in. */
  get error(): unknown {
    return this.#login?.state === 'failed' ? this.#login.error : this.#needed;
  }

  /** A person has to sign in before this connection can go on. */
  get isRequired(): boolean {
    return this.#login?.state === 'open';
  }

  /** Something is under way that may bring other tokens, so whoever needs them may wait. */
  get isAwaited(): boolean {
    // A login that was finished before its dial had failed: the next dial is about to begin.
    if (this.#isReading || this.#login?.state === 'finished') return true;
    return this.#login?.state === 'open' && this.#canBeFinished(this.#login);
  }

  /** For a new dial. */
  fetchFor(generation: number, facts: RequestFacts): SignedFetch {
    if (!this.isRequired) {
      this.#login = undefined;
      this.#needed = undefined;
    }
    return new SignedFetch(this, generation, this.flowFetch, facts);
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    try {
      return (await this.authorization.provider.tokens()) ?? undefined;
    } catch (error) {
      throw ofSignIn(error, 'unauthorized');
    }
  }

  async noteRefused(tokens: OAuthTokens | undefined): Promise<void> {
    this.#refused = tokens && (await tokenDigest(tokens));
  }

  /** A request was let in. */
  async noteAccepted(tokens: OAuthTokens | undefined): Promise<void> {
    const login = this.#login;
    if (tokens === undefined || login?.state !== 'open' || login.parts.serverUrl !== this.serverUrl) return;
    await this.authorization.accepted(login, tokens);
  }

  /** A request of this connection needs it. */
  needs(login: Login, generation: number, needed: object): void {
    this.#needed = needed;
    const isNew = this.#login !== login;
    if (isNew) {
      this.#login = login;
      this.#wasTold = false;
      const changed = () => this.#changed();
      login.asked.then(changed);
      login.ended.then(() => (login.state === 'finished' ? this.#listener.authorized() : changed()), changed);
    }
    const isHeard = this.#listener.isHeard();
    if (this.#wasTold || login.state !== 'open' || !(isNew || isHeard)) return;
    this.#wasTold = isHeard;
    this.#listener.required(login.parts.url, generation);
  }

  /** Resolves when the login is finished. Rejects with `needed` where nobody will finish it. */
  async finished(login: Login, needed: object): Promise<void> {
    if (!this.#waits) throw needed;
    await Promise.race([login.ended, login.asked]);
    if (login.state === 'open' && !this.#canBeFinished(login)) throw needed;
    await login.ended;
  }

  /** The last dial failed for want of a login. That may have been finished meanwhile. */
  dialRefused(): void {
    if (this.#login?.state === 'finished') this.#listener.authorized();
  }

  /** Reads the host's tokens, once, and tells if they are others. */
  async readTokens(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const areOthers = await this.#hasOthers().catch(() => false);
    this.#isReading = false;
    if (areOthers) this.#listener.authorized();
    this.#changed();
  }

  /** Resolves when `isAwaited` may be another. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => this.#awaitingChange.add(resolve));
  }

  /** The host wants it to be tried anew: a login that nobody finishes is not waited for any more. */
  restart(): void {
    this.authorization.restartLogin();
  }

  finish(callback: Callback): Promise<void> {
    return this.authorization.finish(callback);
  }

  #changed(): void {
    this.#listener.changed();
    for (const resolve of this.#awaitingChange) resolve();
    this.#awaitingChange.clear();
  }

  async #hasOthers(): Promise<boolean> {
    const tokens = await this.authorization.provider.tokens();
    return !!tokens && (await tokenDigest(tokens)) !== this.#refused;
  }

  /** The host is still asking, or somebody was told and will call `finishAuth`. */
  #canBeFinished(login: Login): boolean {
    return this.#waits && (!login.isAsked || this.authorization.isHeard);
  }
}
