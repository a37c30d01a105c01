// The calls of a race: what the server saw of each, what its caller was told, and whether that is true.
import type { ConnectionState, ReplayPolicy } from '../../src/index.ts';
import type { ScheduledTransport } from './scheduled-transport.ts';
import type { CallCommand, Fate } from './script.ts';

export interface RaceCall {
  readonly key: string;
  readonly policy: ReplayPolicy;
  readonly fates: readonly Fate[];
  readonly controller: AbortController;
  readonly startedIn: ConnectionState;
  /** When its caller has to know, in the time of the race. */
  readonly deadline: number;
  /** How often it was handed to a client that the supervisor owns. */
  attempts: number;
  /** Each time that it was handed to a transport; a client that has closed meanwhile does not get that far. */
  readonly sentOn: ScheduledTransport[];
  arrivals: number;
  /** Arrivals that the server turned away because it did not know the session. */
  turnedAway: number;
  runs: number;
  /** Each time that its promise settled. */
  readonly outcomes: Outcome[];
}

type Outcome = { readonly result: unknown } | { readonly error: unknown };

export class RaceCalls {
  readonly all: RaceCall[] = [];

  begin(
    { policy, timeout, fates }: CallCommand,
    startedIn: ConnectionState,
    send: (params: object, options: { timeout: number; signal: AbortSignal }) => Promise<unknown>,
  ): void {
    const call: RaceCall = {
      key: `call ${this.all.length + 1}`,
      policy,
      fates,
      controller: new AbortController(),
      startedIn,
      deadline: Date.now() + timeout,
      attempts: 0,
      sentOn: [],
      arrivals: 0,
      turnedAway: 0,
      runs: 0,
      outcomes: [],
    };
    this.all.push(call);
    // The tools of the server are named after the policies that the host has declared for them.
    const params = { name: policy, arguments: { key: call.key } };
    send(params, { timeout, signal: call.controller.signal }).then(
      (result) => call.outcomes.push({ result }),
      (error: unknown) => call.outcomes.push({ error }),
    );
  }

  withKey(key: string): RaceCall {
    const call = this.all.find((candidate) => candidate.key === key);
    if (call === undefined) throw new Error(`nobody made ${key}`);
    return call;
  }

  get unsettled(): RaceCall[] {
    return this.all.filter(({ outcomes }) => outcomes.length === 0);
  }
}

export function resultOf({ key, runs }: RaceCall): object {
  return { content: [{ type: 'text', text: `${key}, run ${runs}` }] };
}

/** What holds for every call whenever all has come to rest. */
export function wrongAtRest(call: RaceCall): string | undefined {
  const { policy, runs, sentOn, outcomes, controller, deadline } = call;
  if (runs > 1 && policy !== 'safe') return `ran ${runs} times, and its policy is ${policy}`;
  if (runs > 2) return `ran ${runs} times`;
  if (sentOn.length > 2) return `was sent ${sentOn.length} times`;
  if (sentOn.length > 1 && policy === 'never') return 'was sent again, and its policy is never';
  if (outcomes.length > 1) return 'settled twice';
  if (outcomes.length === 1) return undefined;
  if (controller.signal.aborted) return 'was aborted, and has not settled';
  // A timer of 0 ms takes 1.
  if (Date.now() > deadline + 1) return 'has not settled within its time';
  return undefined;
}

/** The JSON-RPC code with which the tools of the server fail. */
export const OF_THE_TOOL = -32050;

/** What holds once nothing is on its way any more. `lossShows`: it is known when a connection closes. */
export function wrongAtTheEnd(call: RaceCall, lossShows: boolean): string | undefined {
  const { key, runs, outcomes } = call;
  const [outcome] = outcomes;
  if (outcome === undefined) return 'never settled';
  if ('error' in outcome) {
    const wrong = untruthOf(outcome.error as Told, call, lossShows);
    return wrong && `${wrong}: ${outcome.error}`;
  }
  const { text } = (outcome.result as { content: { text: string }[] }).content[0]!;
  const isOfOneOfItsRuns = Array.from({ length: runs }, (_, run) => `${key}, run ${run + 1}`).includes(text);
  return isOfOneOfItsRuns ? undefined : `ran ${runs} times, and was answered "${text}"`;
}

interface Told {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly evidence?: { readonly execution: string };
}

function untruthOf(error: Told, call: RaceCall, lossShows: boolean): string | undefined {
  const { name, message, evidence } = error;
  const { policy, runs, attempts, sentOn, controller } = call;
  const sends = sentOn.length;
  if (message.includes('was not sent.') && sends > 0) return `was sent ${sends} times, and "not sent"`;
  const saysThatItDidNotRun = message.includes('was not run') || evidence?.execution === 'none';
  if (saysThatItDidNotRun && runs > 0) return `ran ${runs} times, and "did not run"`;
  if (name === 'OutcomeUnknownError') {
    if (sends === 0) return 'was never sent';
    return policy === 'safe' && attempts < 2 ? 'could have been sent again' : undefined;
  }
  const isOurs = evidence !== undefined || name.startsWith('Connection') || name.startsWith('CallerOwned');
  return isOurs || controller.signal.aborted ? undefined : untruthOfTheSdk(error, call, lossShows);
}

/** An error of the SDK is what the server said, or says nothing of a loss. */
function untruthOfTheSdk({ code, message }: Told, { runs, sentOn }: RaceCall, lossShows: boolean) {
  // A session that does not show its transport, and that its caller has connected again by the time it is probed.
  if (sentOn.length === 0) return !lossShows && message === 'Not connected' ? undefined : 'was never sent';
  if (code === OF_THE_TOOL && runs === 0) return 'did not run';
  const isLoss = message === 'Not connected' || message.includes('Connection closed');
  return isLoss && lossShows ? 'was told of a loss in the words of the SDK' : undefined;
}
