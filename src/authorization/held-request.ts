/** A call's request that the server refused, and that waits for a sign-in. Nobody runs it meanwhile. */
export class HeldRequest {
  /** What the call ends with at its deadline, once it is known that a person has to sign in. */
  loginNeeded: object | undefined;
  readonly #stop = new AbortController();

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** It is not sent again. */
  release(): void {
    this.#stop.abort();
  }
}
