/**
 * A signal for one request. SDK v1 leaves a listener on the caller's signal for every finished call, so the
 * caller's own signal is never handed over; and neither version enforces `maxTotalTimeout` unless progress comes.
 */
export interface RequestSignal {
  readonly signal: AbortSignal;
  /** True once the cap, not the caller, has ended the request. */
  overdue(): boolean;
  /** Aborts it, for another reason than the caller's. */
  abort(reason: unknown): void;
  release(): void;
}

export function requestSignal(caller: AbortSignal | undefined, capMs: number | undefined): RequestSignal {
  const controller = new AbortController();
  const follow = () => controller.abort(caller?.reason);
  if (caller?.aborted) follow();
  caller?.addEventListener('abort', follow, { once: true });
  let overdue = false;
  const timer =
    capMs === undefined
      ? undefined
      : setTimeout(() => {
          overdue = true;
          controller.abort(new Error('Maximum total timeout exceeded'));
        }, capMs);
  return {
    signal: controller.signal,
    overdue: () => overdue,
    abort: (reason) => controller.abort(reason),
    release() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', follow);
    },
  };
}
