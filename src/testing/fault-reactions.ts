/** What a fault server can be told to do, and what is refused with a TypeError. */

export type FaultTransport = 'http' | 'stdio';

/** The requests whose treatment can be set; all others are always answered. */
export type FaultMethod = 'initialize' | 'ping' | 'tools/call' | 'tools/list';

/** What the server does with the requests of one method. */
export type Reaction =
  /** What a server should do. The default. */
  | 'answer'
  /**
   * The request waits, not yet run, until another reaction is set for its method, and is then treated by that one.
   * Neither a cancellation nor the end of its connection takes it back; over HTTP the end of its session does.
   */
  | 'hold'
  /** Not now. HTTP: status 503. stdio: the process exits with code 1. It was not run, and is not answered. */
  | 'refuse'
  /**
   * Not ever. HTTP: status 401. stdio: `initialize` only: the command is taken away, so that the next process
   * cannot be spawned (`ENOENT`); a process that already runs answers.
   */
  | 'forbid'
  /** Not run. HTTP: status 200 with a JSON body that breaks off. stdio: a line that is not JSON, and no answer. */
  | 'garbage'
  /** Never run and never answered; nothing else happens. */
  | 'ignore'
  /**
   * It runs and is counted, but its answer is lost. HTTP: the headers of an event stream are sent, then the socket is
   * destroyed. stdio: the process exits with code 1.
   */
  | 'lose-answer';

const TRANSPORTS: Record<FaultTransport, true> = { http: true, stdio: true };

const METHODS: Record<FaultMethod, true> = {
  initialize: true,
  ping: true,
  'tools/call': true,
  'tools/list': true,
};

const REACTIONS: Record<Reaction, true> = {
  answer: true,
  hold: true,
  refuse: true,
  forbid: true,
  garbage: true,
  ignore: true,
  'lose-answer': true,
};

function checkOneOf(what: string, allowed: Record<string, true>, value: unknown): void {
  if (typeof value === 'string' && Object.hasOwn(allowed, value)) return;
  throw new TypeError(`FaultServer: ${what} must be one of ${Object.keys(allowed).join(', ')}`);
}

export interface FaultServerOptions {
  /** `http`: Streamable HTTP, with sessions. Default `http`. */
  readonly transport?: FaultTransport | undefined;
}

export function checkOptions(options: FaultServerOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('FaultServer: the options must be an object');
  }
  const unknown = Object.keys(options).find((name) => name !== 'transport');
  if (unknown !== undefined) throw new TypeError(`FaultServer: there is no option "${unknown}"`);
  if (options.transport !== undefined) checkOneOf('transport', TRANSPORTS, options.transport);
}

export function checkReaction(transport: FaultTransport, method: FaultMethod, reaction: Reaction): void {
  checkOneOf('the method', METHODS, method);
  checkOneOf('the reaction', REACTIONS, reaction);
  if (transport === 'stdio' && reaction === 'forbid' && method !== 'initialize') {
    throw new TypeError(
      `FaultServer: over stdio only initialize can be forbidden, not ${method}; use refuse, or transport: 'http'`,
    );
  }
}
