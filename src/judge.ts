/** Turns the failure of a call into evidence: the host's own rule first, then the classifier. */
import type { Evidence } from '../machines/vocabulary.ts';
import type { Call } from './call.ts';
import type { OperationFailure } from './errors.ts';
import { classify } from './evidence/classify.ts';
import { shapeOf } from './evidence/error-shape.ts';
import type { FailedSend, Generation } from './generation.ts';
import type { Logger } from './logger.ts';
import { OPERATIONS, type OperationSpec } from './operations.ts';
import type { Settings } from './options.ts';
import { transportOf } from './transports/client-shape.ts';

export class Judge {
  readonly #options: Settings['evidence'];
  readonly #logger: Logger;

  constructor(options: Settings['evidence'], logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  call(
    { spec, options }: Call,
    { generation, error, sessionId, exchange, overdue }: FailedSend,
  ): OperationFailure {
    const evidence =
      this.#ask(error, spec, sessionId) ??
      classify({
        error: shapeOf(error),
        sessionId,
        aborted: options?.signal?.aborted === true,
        overdue,
        transportClosed: generation.closed,
        earlierLegMayHaveRun: exchange?.earlierLegMayHaveRun === true,
        witnessed: exchange?.verdict,
        trust404: this.#options.trust404,
      });
    const process = evidence.connection === 'lost' ? generation.processEnd : undefined;
    return process === undefined ? evidence : { ...evidence, process };
  }

  probe(error: unknown, generation: Generation): Evidence {
    const sessionId = transportOf(generation.client as never)?.sessionId;
    return (
      this.#ask(error, OPERATIONS.ping, sessionId) ??
      classify({
        error: shapeOf(error),
        sessionId,
        aborted: false,
        overdue: false,
        transportClosed: generation.closed,
        earlierLegMayHaveRun: false,
        witnessed: undefined,
        trust404: this.#options.trust404,
      })
    );
  }

  #ask(error: unknown, { method, kind }: OperationSpec, sessionId: string | undefined): Evidence | undefined {
    if (this.#options.classify === undefined) return undefined;
    try {
      return this.#options.classify(error, { method, kind, carriedSession: sessionId !== undefined });
    } catch {
      this.#logger.error({ method }, 'The evidence.classify rule threw; it was passed over');
      return undefined;
    }
  }
}
