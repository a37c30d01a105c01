/**
 * The `fetch` of one generation that signs in: it adds the bearer token, and where the server refuses that, gets
 * another one and sends the same request once more. The SDK's transport knows nothing of it.
 */
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Exchange } from '../transports/exchange.ts';
import { noSuchStream } from '../transports/http-wire.ts';
import { abortable } from '../within-limit.ts';
import { LoginNeeded, type Wanted } from './authorization.ts';
import { type Challenge, challengeOf } from './challenge.ts';
import { sdkAuth } from './flow.ts';
import type { Refusal } from './grants.ts';
import { HeldRequest } from './held-request.ts';
import type { SignIn } from './sign-in.ts';
import { ofSignIn, signInFailure } from './sign-in-errors.ts';

/** What is known of the requests of a generation, by their bodies. */
export interface RequestFacts {
  /** Of a call, or of the handshake. */
  exchangeOf(body: unknown): Exchange | undefined;
  isProbe(body: unknown): boolean;
  /** Of a call that has settled so long ago that its exchange is forgotten. */
  isForgotten(body: unknown): boolean;
  /** The generation takes no new requests. */
  readonly isRetired: boolean;
}

export class SignedFetch {
  /** What the last sign-in came to, where the SDK does not hand it on. */
  failure: unknown;
  readonly #signIn: SignIn;
  readonly #generation: number;
  readonly #base: typeof fetch;
  readonly #facts: RequestFacts;

  constructor(signIn: SignIn, generation: number, base: typeof fetch, facts: RequestFacts) {
    this.#signIn = signIn;
    this.#generation = generation;
    this.#base = base;
    this.#facts = facts;
  }

  readonly fetch: typeof fetch = async (asked, init = {}) => {
    const tried = new Set<Refusal>();
    let tokens = await this.#signIn.tokens();
    for (;;) {
      const sentAfter = this.#signIn.authorization.ended;
      const response = await this.#base(asked, withToken(init, tokens));
      const challenge = await challengeOf(response);
      if (challenge === undefined) {
        if (this.#signIn.isRequired && response.ok) await this.#signIn.noteAccepted(tokens);
        return response;
      }
      await this.#signIn.noteRefused(tokens);
      // An expired token may have lacked a scope as well.
      const other = tried.has(challenge.refusal)
        ? undefined
        : await this.#other({ ...challenge, refused: tokens, sentAfter }, init, response);
      if (other === undefined) return this.#refused(response, init);
      tried.add(challenge.refusal);
      tokens = other;
      await response.body?.cancel();
    }
  };

  #other(
    refusal: Pick<Wanted, keyof Challenge | 'refused' | 'sentAfter'>,
    init: RequestInit,
    response: Response,
  ): Promise<OAuthTokens | undefined> {
    const { serverUrl, flowFetch: fetch } = this.#signIn;
    const wanted = { ...refusal, serverUrl, mayAskPerson: init.method !== 'DELETE', fetch };
    return init.method === 'POST' ? this.#forMessage(wanted, init, response) : this.#forStream(wanted, init);
  }

  /** A stream of its own is no more than an offer of a Streamable HTTP server: the SDK would ask again and again. */
  #refused(response: Response, { method }: RequestInit): Response {
    return method === 'GET' && !this.#signIn.isLegacy ? noSuchStream() : response;
  }

  /** A stream that cannot be had, and a session that cannot be ended, are answered as they were refused. */
  async #forStream(wanted: Wanted, { signal }: RequestInit): Promise<OAuthTokens | undefined> {
    try {
      return await this.#signIn.authorization.obtain(wanted, signal ?? undefined);
    } catch (error) {
      // A session that cannot be ended is no reason to ask a person.
      if (!signal?.aborted && wanted.mayAskPerson) this.failure = await this.#errorOf(error);
      return undefined;
    }
  }

  async #forMessage(wanted: Wanted, init: RequestInit, response: Response): Promise<OAuthTokens | undefined> {
    // Any answer to a probe is a sign of life.
    if (this.#facts.isProbe(init.body)) return undefined;
    const exchange = this.#facts.exchangeOf(init.body);
    if (exchange?.settled || this.#facts.isForgotten(init.body)) return undefined;
    if (exchange === undefined || exchange.message?.method === 'initialize') {
      return this.#obtain(wanted, init.signal ?? undefined);
    }
    const held = new HeldRequest();
    exchange.held = held;
    if (this.#facts.isRetired) held.release();
    try {
      return await this.#holding(held, wanted, response);
    } finally {
      if (!held.signal.aborted) exchange.held = undefined;
    }
  }

  /** A call waits for the person, up to its own deadline. */
  async #holding(held: HeldRequest, wanted: Wanted, response: Response): Promise<OAuthTokens | undefined> {
    for (;;) {
      try {
        return await this.#signIn.authorization.obtain(wanted, held.signal);
      } catch (error) {
        if (!(error instanceof LoginNeeded)) throw held.signal.aborted ? error : await this.#errorOf(error);
        held.loginNeeded = await this.#errorOf(error);
        await response.body?.cancel();
        await abortable(this.#signIn.finished(error.login, held.loginNeeded), held.signal);
      }
    }
  }

  async #obtain(wanted: Wanted, signal: AbortSignal | undefined): Promise<OAuthTokens | undefined> {
    try {
      return await this.#signIn.authorization.obtain(wanted, signal);
    } catch (error) {
      throw signal?.aborted ? error : await this.#errorOf(error);
    }
  }

  async #errorOf(error: unknown): Promise<object> {
    if (!(error instanceof LoginNeeded)) {
      // The host's provider may throw too.
      return signInFailure(error) === undefined ? ofSignIn(error, 'unauthorized') : (error as object);
    }
    const { UnauthorizedError } = await sdkAuth();
    const needed = ofSignIn(new UnauthorizedError(), 'authorization-required');
    this.#signIn.needs(error.login, this.#generation, needed);
    return needed;
  }
}

/** As the SDK does it: a header of the host's own has precedence. */
function withToken(init: RequestInit, tokens: OAuthTokens | undefined): RequestInit {
  const headers = new Headers(init.headers);
  if (tokens && !headers.has('authorization')) headers.set('authorization', `Bearer ${tokens.access_token}`);
  return { ...init, headers };
}
