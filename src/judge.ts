/** Turns the failure of a call into evidence: the host's own rule first, then the classifier. */
import { type Evidence, isEvidence, type Ownership } from '../machines/vocabulary.ts';
import { signInEvidence } from './authorization/sign-in-errors.ts';
import type { OperationFailure } from './errors.ts';
import { saysServerIsAbsent } from './evidence/absence.ts';
import { bounded, classify } from './evidence/classify.ts';
import { shapeOf } from './evidence/error-shape.ts';
import { type CarriedSession, NO_CALL } from './evidence/failure.ts';
import type { FailedSend, Generation } from './generation.ts';
import type { Logger } from './logger.ts';
import { OPERATIONS, type OperationSpec } from './operations.ts';
import type { Settings } from './options.ts';
import { reachedOf } from './transports/wire-monitor.ts';

export class Judge {
  readonly #options: Settings['evidence'];
  readonly #ownership: Ownership;
  readonly #logger: Logger;

  constructor(options: Settings['evidence'], ownership: Ownership, logger: Logger) {
    this.#options = options;
    this.#ownership = ownership;
    this.#logger = logger;
  }

  call(failed: FailedSend): OperationFailure {
    const { call, generation, error, session, overdue, observed, earlierLegMayHaveRun } = failed;
    const { requestId, reached } = failed;
    const { spec, options } = call;
    const found = this.#ask(error, spec, session);
    const evidence =
      found === undefined
        ? classify({
            error: shapeOf(error),
            session,
            nothingToLose: failed.nothingToLose,
            isModern: generation.isModern,
            aborted: options?.signal?.aborted === true,
            overdue,
            transportClosed: generation.closed,
            earlierLegMayHaveRun,
            observed,
            requestId,
            reached,
            trust404: this.#options.trust404,
          })
        : // The host's rule is told of one request.
          bounded(found, { earlierLegMayHaveRun, reached });
    // A probe tells what the host's own code can have said of another connection.
    if (failed.mayBeTheHosts && evidence.connection === 'lost' && !generation.closed) {
      return { ...evidence, connection: 'suspect' };
    }
    // A client of the caller's without a session is as good after an outage as before.
    if (failed.nothingToLose && this.#ownership !== 'supervisor' && saysServerIsAbsent(evidence)) {
      return { ...evidence, connection: 'usable' };
    }
    const process = evidence.connection === 'lost' ? generation.processEnd : undefined;
    return process === undefined ? evidence : { ...evidence, process };
  }

  probe(error: unknown, generation: Generation): Evidence {
    const { session } = generation;
    return (
      this.#ask(error, OPERATIONS.ping, session) ??
      classify({
        ...NO_CALL,
        nothingToLose: generation.nothingToLose,
        isModern: generation.isModern,
        observed: signInEvidence(error),
        reached: reachedOf(error),
        error: shapeOf(error),
        session,
        transportClosed: generation.closed,
        trust404: this.#options.trust404,
      })
    );
  }

  #ask(error: unknown, { method, kind }: OperationSpec, session: CarriedSession): Evidence | undefined {
    if (this.#options.classify === undefined) return undefined;
    try {
      const found: unknown = this.#options.classify(error, { method, kind, session });
      if (found instanceof Promise) found.catch(() => {});
      if (found === undefined || found === null || isEvidence(found)) return found ?? undefined;
    } catch {
      // Said below.
    }
    this.#logger.error(
      { method },
      'The evidence.classify rule threw or returned no evidence; it was passed over',
    );
    return undefined;
  }
}
