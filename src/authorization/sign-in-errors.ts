/** What the errors of a sign-in say about the request that needed it: it was not run, and its connection is well. */
import type { Evidence } from '../../machines/vocabulary.ts';

export type SignInCause = Extract<
  Evidence['cause'],
  'unauthorized' | 'authorization-required' | 'authorization-unavailable' | 'timeout'
>;

export interface SignInFailure {
  readonly cause: SignInCause;
  /** What the authorization server asked to wait, in milliseconds. */
  readonly retryAfterMs: number;
}

const failures = new WeakMap<object, SignInFailure>();

/** Returns the error itself, or one that can be remembered: a host's provider may throw anything. */
export function ofSignIn(error: unknown, cause: SignInCause, retryAfterMs = 0): object {
  const object =
    Object(error) === error ? (error as object) : new Error('The sign-in failed', { cause: error });
  failures.set(object, { cause, retryAfterMs });
  return object;
}

/** Nothing, where the error is not one of a sign-in of ours. */
export function signInFailure(error: unknown): SignInFailure | undefined {
  return failures.get(Object(error));
}

export function signInEvidence(error: unknown): Evidence | undefined {
  const cause = signInFailure(error)?.cause;
  return cause && { connection: 'usable', execution: 'none', cause };
}
