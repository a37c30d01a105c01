/**
 * The requests of one authorization flow: discovery, registration, tokens. They go to other servers than the MCP
 * endpoint, so they carry none of its headers and are no evidence about it.
 */
import { isPassingOAuthCode } from '../evidence/oauth.ts';
import { retryAfterMsOf } from '../transports/http-wire.ts';
import { ofSignIn } from './sign-in-errors.ts';

/** A token endpoint that never answers would hold up everybody who shares the provider. */
const REQUEST_LIMIT_MS = 30_000;

export interface PassingFailure {
  readonly error: unknown;
  /** What the authorization server asked to wait, in milliseconds. */
  readonly retryAfterMs: number;
}

export class FlowRequests {
  /** Of the last request, if it failed in a way that may pass: the SDK would go on to a login after some of these. */
  failure: PassingFailure | undefined;
  readonly #base: typeof fetch;
  readonly #errorOf: (response: Response) => Promise<unknown>;

  /** `errorOf`: what the SDK makes of an answer of the authorization server. */
  constructor(base: typeof fetch, errorOf: (response: Response) => Promise<unknown>) {
    this.#base = base;
    this.#errorOf = errorOf;
  }

  readonly fetch: typeof fetch = async (asked, init) => {
    this.failure = undefined;
    const isPost = init?.method === 'POST';
    let response: Response;
    try {
      response = await this.#base(asked, { ...init, signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
    } catch (error) {
      // A browser says the same of a server that is there, and lets no other site read its metadata.
      if (isPost || Object(error).cause !== undefined) this.failure = { error, retryAfterMs: 0 };
      throw error;
    }
    if (!response.ok && (await mayPass(response, isPost))) {
      const error = await this.#errorOf(response.clone());
      this.failure = { error, retryAfterMs: retryAfterMsOf(response) };
    }
    return response;
  };

  /** Marks what the flow threw. */
  blame(error: unknown): object {
    if (this.failure === undefined) return ofSignIn(error, 'unauthorized');
    return ofSignIn(error, 'authorization-unavailable', this.failure.retryAfterMs);
  }
}

async function mayPass(response: Response, isPost: boolean): Promise<boolean> {
  const { status } = response;
  if (status === 429 || status >= 500) return true;
  if (!isPost) return false;
  const said = await errorCodeOf(response.clone());
  return isPassingOAuthCode(said) || (status === 404 && typeof said !== 'string');
}

/** `error` of RFC 6749, section 5.2. */
async function errorCodeOf(response: Response): Promise<unknown> {
  try {
    return Object(await response.json()).error;
  } catch {
    return undefined;
  }
}
