/**
 * One authorization flow at a time for one provider, over all connections, URLs and calls: refresh tokens rotate, and
 * a person signs in once. Whoever comes while one runs waits for it, and takes what it has brought if that will do.
 */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { abortable } from '../within-limit.ts';
import { type Callback, CallbackRefused, callbackParams, checkCallback } from './callback.ts';
import { exchangeCode, type FlowParts, LoginRefusedError, runFlow, sdkAuth } from './flow.ts';
import { Grants, type Refusal, type Scopes } from './grants.ts';
import type { Login } from './login.ts';
import { scopesOf, union } from './scopes.ts';
import { ofSignIn, signInFailure } from './sign-in-errors.ts';
import { tokenDigest } from './token-digest.ts';

/** What a request wants that was refused. */
export interface Wanted {
  readonly serverUrl: string;
  readonly resourceMetadataUrl: URL | undefined;
  /** What the server asks for. */
  readonly scopes: Scopes;
  readonly refusal: Refusal;
  /** With which it was sent. */
  readonly refused: OAuthTokens | undefined;
  readonly mayAskPerson: boolean;
  /** How many flows and logins had ended when it was sent. */
  readonly sentAfter: number;
  /** For the requests of the flow. */
  readonly fetch: typeof fetch;
}

/** Whoever wants the tokens has to wait for a person. */
export class LoginNeeded {
  readonly login: Login;

  constructor(login: Login) {
    this.login = login;
  }
}

interface RunningFlow {
  readonly serverUrl: string;
  /** Resolves when the tokens are there, or a login has begun. */
  readonly done: Promise<Login | undefined>;
}

export class Authorization {
  readonly provider: OAuthClientProvider;
  /** The one that a person still has to finish. */
  login: Login | undefined;
  /** The connections that use it. */
  readonly parties = new Set<{ isHeard(): boolean }>();
  readonly #grants = new Grants();
  #running: RunningFlow | undefined;
  /** How many flows have been started. */
  #flows = 0;
  /** How many flows and logins have ended. */
  ended = 0;
  /** The last of them that failed, and how many had ended then. */
  #failure: { readonly serverUrl: string; readonly error: unknown; readonly ended: number } | undefined;

  constructor(provider: OAuthClientProvider) {
    this.provider = provider;
  }

  /** Somebody has been asked to tell of logins, by whichever connection. */
  get isHeard(): boolean {
    return [...this.parties].some((party) => party.isHeard());
  }

  /**
   * Returns other tokens than those that were refused, or undefined where asking for them again is in vain. Throws
   * `LoginNeeded`, what the flow threw, or the signal's reason.
   */
  async obtain(wanted: Wanted, signal: AbortSignal | undefined): Promise<OAuthTokens | undefined> {
    const { serverUrl, refused, refusal } = wanted;
    const scopes = await this.#scopesFor(wanted);
    if (refusal === 'scope' && refused !== undefined) {
      if (await this.#grants.wereAskedFor(serverUrl, refused, scopes)) return undefined;
    }
    for (;;) {
      signal?.throwIfAborted();
      if (this.#running !== undefined) {
        await this.#share(this.#running, serverUrl, signal);
        continue;
      }
      const flows = this.#flows;
      const tokens = await this.provider.tokens();
      const areRefused = tokens?.access_token === refused?.access_token;
      const fitness = tokens ? await this.#grants.judge(serverUrl, tokens, scopes, refusal) : undefined;
      if (tokens && fitness === 'fit' && !areRefused) return tokens;
      const before = tokens ? await tokenDigest(tokens) : undefined;
      if (flows !== this.#flows) continue;
      if (!wanted.mayAskPerson && !canRefresh(this.provider, tokens)) return undefined;
      // It was on its way while a flow failed that would have been its own.
      const failure = this.#failure;
      if (failure?.serverUrl === serverUrl && failure.ended > wanted.sentAfter) throw failure.error;
      const pending = this.login;
      // Others than when the person was asked may be refreshed, once; the person is not asked twice.
      if (pending && (!tokens?.refresh_token || before === pending.insufficient))
        throw new LoginNeeded(pending);
      if (pending) pending.insufficient = before;
      const mustAskPerson = refusal === 'scope' || (fitness === 'too-narrow' && !areRefused);
      const mayBeUseless = fitness === 'of-another-server' && !mustAskPerson;
      const mayAskPerson = wanted.mayAskPerson && pending === undefined;
      const flow = { ...wanted, provider: this.provider, scopes, before, mayAskPerson, mustAskPerson };
      let login: Login | undefined;
      try {
        login = await abortable(this.#start(flow, mayBeUseless), signal);
      } catch (error) {
        throw pending && error instanceof LoginRefusedError ? new LoginNeeded(pending) : error;
      }
      if (login !== undefined) throw new LoginNeeded(login);
      return (await this.provider.tokens()) ?? undefined;
    }
  }

  /**
   * Finishes the login with what came back from it.
   * @throws {CallbackRefused} when it belongs to no login in progress; then nothing is sent.
   * @throws what ended the login, or what the exchange of the code came to.
   */
  async finish(callback: Callback): Promise<void> {
    const { login } = this;
    if (login === undefined) throw new CallbackRefused('no login is in progress that waits for it');
    const params = callbackParams(callback);
    const { url, discovered } = login.parts;
    if (params !== undefined) checkCallback(params, url, discovered?.authorizationServerMetadata);
    if (params?.has('error')) throw await this.#refused(login, params);
    const code = params === undefined ? String(callback) : params.get('code');
    if (!code) throw new CallbackRefused('it has neither a code nor an error');
    // The flow that began the login may not be done with that, or another callback may be exchanged.
    while (this.#running !== undefined) await this.#running.done.catch(() => {});
    if (login.state !== 'open') throw new CallbackRefused('its login has ended');
    await this.#run(login.parts.serverUrl, this.#exchange(login, code));
  }

  /** The person, or the authorization server, does not want it. */
  async #refused(login: Login, params: URLSearchParams): Promise<object> {
    this.login = undefined;
    const { parseErrorResponse } = await sdkAuth();
    const error = await parseErrorResponse(JSON.stringify(Object.fromEntries(params)));
    const marked = ofSignIn(error, 'unauthorized');
    this.abandon(login, marked);
    return marked;
  }

  /** The server has taken tokens that are others than when the person was asked. */
  async accepted(login: Login, tokens: OAuthTokens): Promise<void> {
    if (login.state !== 'open' || (await tokenDigest(tokens)) === login.insufficient) return;
    if (this.login === login) this.login = undefined;
    login.finish();
  }

  /** The host wants to be asked anew, unless it is still asking. */
  restartLogin(): void {
    const { login } = this;
    if (!login?.isAsked || this.#running !== undefined) return;
    this.login = undefined;
    login.supersede();
  }

  /** The login will not be finished any more. */
  abandon(login: Login, error: unknown): void {
    if (this.login === login) this.login = undefined;
    this.#noteFailure(login.parts.serverUrl, error);
    login.fail(error);
  }

  async #exchange(login: Login, code: string): Promise<undefined> {
    try {
      await exchangeCode(this.provider, login.parts, code);
    } catch (error) {
      // The code may still be good.
      if (signInFailure(error)?.cause !== 'authorization-unavailable') this.abandon(login, error);
      throw error;
    }
    await this.#finished(login);
  }

  async #share(
    { serverUrl, done }: RunningFlow,
    own: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      await abortable(done, signal);
    } catch (error) {
      // What fails for one fails for all that want the same.
      if (signal?.aborted || (serverUrl === own && !(error instanceof LoginRefusedError))) throw error;
    }
  }

  /** A step-up asks for what there was as well. */
  async #scopesFor({ serverUrl, scopes, refusal, refused }: Wanted): Promise<Scopes> {
    if (refusal === 'token' || refused === undefined) return scopes;
    const granted = await this.#grants.scopesOf(serverUrl, refused);
    return union(granted ?? scopesOf(this.provider.clientMetadata.scope), scopes);
  }

  /** `mayBeUseless`: the refresh token may be good for another server only. */
  #start(parts: FlowParts, mayBeUseless: boolean): Promise<Login | undefined> {
    const listener = {
      began: (login: Login) => {
        this.login = login;
      },
      asked: (login: Login) => this.#asked(login),
      failed: (login: Login, error: unknown) => this.abandon(login, error),
    };
    const flow = async () => {
      const login = await runFlow(parts, listener).catch((error: unknown) => {
        if (!mayBeUseless || Object(error).errorCode !== 'invalid_target') throw error;
        return runFlow({ ...parts, mustAskPerson: true }, listener);
      });
      if (login === undefined) await this.#note(parts.serverUrl, parts.scopes, undefined);
      return login;
    };
    return this.#run(parts.serverUrl, flow());
  }

  async #run(serverUrl: string, done: Promise<Login | undefined>): Promise<Login | undefined> {
    this.#flows++;
    this.#running = { serverUrl, done };
    try {
      const login = await done;
      this.ended++;
      return login;
    } catch (error) {
      // A flow that was not to ask the person is nobody else's.
      if (!(error instanceof LoginRefusedError)) this.#noteFailure(serverUrl, error);
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  #noteFailure(serverUrl: string, error: unknown): void {
    this.#failure = { serverUrl, error, ended: ++this.ended };
  }

  /** The host may have signed in by itself meanwhile. */
  async #asked(login: Login): Promise<void> {
    if (login.state !== 'open') return;
    const tokens = await this.provider.tokens();
    if (tokens && (await tokenDigest(tokens)) !== login.insufficient) await this.#finished(login);
    else login.noteAsked();
  }

  async #finished(login: Login): Promise<void> {
    if (login.state !== 'open') return;
    const asked = scopesOf(login.parts.url.searchParams.get('scope'));
    await this.#note(login.parts.serverUrl, asked, asked);
    if (this.login === login) this.login = undefined;
    login.finish();
  }

  async #note(serverUrl: string, wanted: Scopes, asked: Scopes | undefined): Promise<void> {
    const tokens = await this.provider.tokens();
    if (tokens) await this.#grants.note(serverUrl, tokens, wanted, asked);
  }
}

/** Without a person: by a refresh, or by a grant that knows none. */
function canRefresh({ redirectUrl }: OAuthClientProvider, tokens: OAuthTokens | undefined): boolean {
  return tokens?.refresh_token !== undefined || !redirectUrl;
}
