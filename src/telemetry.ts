/** What tracing and metrics are told. Those who are told can neither delay nor break a call. */
import type { Evidence, OperationKind, Ownership } from '../machines/vocabulary.ts';
import type { Inspection } from './inspection.ts';
import { quietly } from './quietly.ts';
import type { OwnedTransport } from './transports/recipe.ts';

/** Given to `createSupervisor`; `openTelemetry()` of `mcp-steward/opentelemetry` makes one. */
export interface Telemetry {
  /** Called once for each supervisor that it was given to. */
  attach(inspection: Inspection): AttachedTelemetry;
}

export interface AttachedTelemetry {
  /** A call begins; whoever returns nothing does not hear of it again. */
  callBegan(call: CallFacts): CallObserver | undefined;
  /** The supervisor has closed. */
  detach(): void;
}

export interface CallFacts {
  readonly connection: string;
  readonly ownership: Ownership;
  /** Undefined where nobody has said it: a client of the caller's, or one that `connect` made. */
  readonly transport: OwnedTransport['kind'] | undefined;
  readonly method: string;
  readonly kind: OperationKind;
  /** As the caller gave them. Nothing of them may be told to anyone but the server. */
  readonly params: unknown;
}

export interface CallObserver {
  /** What is sent: the caller's parameters, to which a trace context may have been added. */
  readonly params: unknown;
  /** It is handed to a generation's client, for the first time or again. */
  sent(generation: number): void;
  /** Runs what hands it over, and returns what that returns: what the client traces meanwhile is part of it. */
  during<Result>(send: () => Result): Result;
  /** A send failed. */
  failed(evidence: Evidence, generation: number): void;
  /** It is in trouble: `actor` is the session id of its machine, which takes its first step after this. */
  inTrouble(actor: string): void;
  answered(result: unknown): void;
  rejected(error: unknown): void;
}

/** What throws is passed over. */
export function guardedTelemetry(
  telemetry: Telemetry,
  inspection: Inspection,
): AttachedTelemetry | undefined {
  const attached = quietly(() => telemetry.attach(inspection));
  if (attached === undefined) return undefined;
  return {
    callBegan: (call) => guardedObserver(quietly(() => attached.callBegan(call))),
    detach: () => quietly(() => attached.detach()),
  };
}

function guardedObserver(observer: CallObserver | undefined): CallObserver | undefined {
  if (observer === undefined) return undefined;
  return {
    params: observer.params,
    sent: (generation) => quietly(() => observer.sent(generation)),
    failed: (evidence, generation) => quietly(() => observer.failed(evidence, generation)),
    during: (send) => {
      let sent: { readonly result: ReturnType<typeof send> } | undefined;
      quietly(() =>
        observer.during(() => {
          sent = { result: send() };
          return sent.result;
        }),
      );
      return sent === undefined ? send() : sent.result;
    },
    inTrouble: (actor) => quietly(() => observer.inTrouble(actor)),
    answered: (result) => void quietly(() => observer.answered(result)),
    rejected: (error) => void quietly(() => observer.rejected(error)),
  };
}
