import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type JSONRPCMessage, LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { OF_THE_TOOL, type RaceCalls, resultOf } from './calls.ts';
import { ScheduledTransport } from './scheduled-transport.ts';
import type { Fate, Kind, PingFate, ServerScript } from './script.ts';

type Request = { id?: number; method?: string; params?: { arguments: { key: string } } };

/** The DELETEs of one session. */
interface Deletes {
  readonly count: number;
  readonly wrong: boolean;
  /** The last one was refused, or is never answered. */
  isInVain: boolean;
  /** When it came. */
  readonly turnedAway: number;
}

/** A server that does what the script says, and counts. */
export class CountingServer {
  readonly kind: Kind;
  /** Every transport that was ever opened to it. */
  readonly transports: ScheduledTransport[] = [];
  /** Answers that are owed, and come late or never. */
  readonly owed: (() => void)[] = [];
  /** How many have been sent. */
  pings = 0;
  /** Resolves when the scheduler says so. */
  readonly letGo: (what: string) => Promise<void>;
  /** A call is handed to a transport. */
  onSend: (transport: ScheduledTransport) => void = () => {};
  /** The ids of the sessions that live; for pipes, the names of the transports. */
  readonly #live = new Set<string>();
  readonly #deletes = new Map<string, Deletes>();
  /** Of clients that had not yet said that they are initialised. */
  #handshakesTurnedAway = 0;
  readonly #script: ServerScript;
  readonly #pings: PingFate[];
  readonly #calls: RaceCalls;

  constructor(script: ServerScript, calls: RaceCalls, letGo: (what: string) => Promise<void>) {
    this.kind = script.kind;
    this.#script = script;
    this.#pings = [...script.pings];
    this.#calls = calls;
    this.letGo = letGo;
  }

  transport(): ScheduledTransport {
    const transport = new ScheduledTransport(`transport ${this.transports.length + 1}`, this);
    this.transports.push(transport);
    return transport;
  }

  /** A pipe has no session that could be forgotten: it is cut. */
  forget(): void {
    if (this.kind === 'http') this.#live.clear();
    else for (const transport of this.transports) this.hangUp(transport);
  }

  hangUp(transport: ScheduledTransport): void {
    this.#live.delete(transport.sessionId ?? transport.name);
    if (transport.closed) return;
    transport.closed = true;
    transport.onclose?.();
  }

  /** Of a session that is over for its client. */
  wrongWithEnded(session: string): string | undefined {
    const deletes = this.#deletes.get(session);
    if (deletes?.wrong) return `${session} was ended ${deletes.count} times`;
    const isLeft = this.#live.has(session) && (deletes === undefined || this.#script.deletes === 'answered');
    return isLeft ? `${session} was left to live` : undefined;
  }

  /** The session of this transport lives. */
  knows(transport: ScheduledTransport): boolean {
    return this.#live.has(transport.sessionId ?? transport.name);
  }

  async endSession(transport: ScheduledTransport): Promise<void> {
    const { sessionId } = transport;
    if (sessionId === undefined) return;
    this.#deletes.set(sessionId, this.#countDelete(this.#deletes.get(sessionId)));
    await this.letGo(`DELETE ${sessionId}`);
    if (this.#script.deletes !== 'answered') this.#deletes.get(sessionId)!.isInVain = true;
    if (this.#script.deletes === 'unanswered') await new Promise(() => {});
    if (this.#script.deletes === 'refused') throw new StreamableHTTPError(500, 'Failed to terminate session');
    this.#live.delete(sessionId);
    transport.sessionId = undefined as never;
  }

  /** Another is right only where the one before was in vain, and a handshake was turned away since. */
  #countDelete(before: Deletes | undefined): Deletes {
    const turnedAway = this.#handshakesTurnedAway;
    if (before === undefined) return { count: 1, wrong: false, isInVain: false, turnedAway };
    const mayRepeat = before.isInVain && turnedAway > before.turnedAway;
    return { count: before.count + 1, wrong: before.wrong || !mayRepeat, isInVain: false, turnedAway };
  }

  /** Rejects where a POST would fail. */
  async take(transport: ScheduledTransport, message: JSONRPCMessage): Promise<void> {
    const { id, method, params } = message as Request;
    const { sessionId } = transport;
    const call = method === 'tools/call' ? this.#calls.withKey(params!.arguments.key) : undefined;
    if (call !== undefined) {
      call.sentOn.push(transport);
      this.onSend(transport);
    }
    if (method === 'ping') this.pings++;
    await this.letGo(`${call?.key ?? method} arrives on ${transport.name}`);
    if (method === 'notifications/initialized') transport.initialized = true;
    if (method === 'initialize') return this.#initialize(transport, id);
    if (!this.#live.has(sessionId ?? transport.name)) {
      if (call !== undefined) call.turnedAway++;
      if (method === 'notifications/initialized') {
        this.#handshakesTurnedAway++;
        transport.turnedAway = true;
      }
      return this.#turnAway(transport, id);
    }
    if (method === 'ping') return this.#ping(transport, id);
    if (call === undefined) return;
    const fate = call.fates[call.arrivals++] ?? 'answered';
    if (this.#runs(fate)) call.runs++;
    this.#call(fate, transport, id, resultOf(call));
  }

  #initialize(transport: ScheduledTransport, id: number | undefined): void {
    const session = this.kind === 'http' ? `session of ${transport.name}` : transport.name;
    this.#live.add(session);
    const result = {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: { tools: {} },
      serverInfo: { name: 'counting', version: '1.0.0' },
    };
    this.#answer(transport, id, { result }, () => {
      if (this.kind === 'http') transport.sessionId = session;
    });
  }

  #turnAway(transport: ScheduledTransport, id: number | undefined): void {
    // A process that has ended reads nothing.
    if (this.kind === 'pipe') return;
    const { forgotten } = this.#script;
    if (forgotten === -32001) {
      if (id !== undefined)
        this.#answer(transport, id, { error: { code: -32001, message: 'Session not found' } });
      return;
    }
    const message = forgotten === 404 ? 'Session not found' : 'Bad Request: No valid session ID provided';
    const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null });
    throw new StreamableHTTPError(forgotten, `Error POSTing to endpoint: ${body}`);
  }

  #ping(transport: ScheduledTransport, id: number | undefined): void {
    const fate = this.#pings.shift() ?? 'answered';
    if (fate === 'unanswered') return;
    if (fate === 'cut') this.#cut(transport, 'ECONNRESET', 'read');
    else if (fate === 'answered') this.#answer(transport, id, { result: {} });
    else this.#answer(transport, id, { error: { code: -32601, message: 'Method not found' } });
  }

  #runs(fate: Fate): boolean {
    if (fate === 'unauthorized') return this.kind === 'pipe';
    return ['answered', 'error', 'unanswered', 'cut-after-it-ran'].includes(fate);
  }

  #call(fate: Fate, transport: ScheduledTransport, id: number | undefined, result: object): void {
    switch (fate) {
      case 'answered':
        this.#answer(transport, id, { result });
        break;
      case 'unauthorized':
        if (this.kind === 'http') throw new StreamableHTTPError(401, 'Error POSTing to endpoint: ');
        this.#answer(transport, id, TOOL_FAILED);
        break;
      case 'error':
        this.#answer(transport, id, TOOL_FAILED);
        break;
      case 'unanswered':
        this.owed.push(() => transport.receive({ jsonrpc: '2.0', id, result } as JSONRPCMessage));
        break;
      case 'swallowed':
        break;
      case 'refused':
        this.#cut(transport, 'ECONNREFUSED', 'connect');
        break;
      default:
        this.#cut(transport, 'ECONNRESET', 'read');
    }
  }

  #cut(transport: ScheduledTransport, code: string, syscall: string): void {
    if (this.kind === 'http') throw cutBy(code, syscall);
    this.hangUp(transport);
  }

  #answer(transport: ScheduledTransport, id: number | undefined, answer: object, before = () => {}): void {
    const message = { jsonrpc: '2.0', id, ...answer } as JSONRPCMessage;
    void this.letGo(`answer to ${id} on ${transport.name}`).then(() => {
      before();
      transport.receive(message);
    });
  }
}

const TOOL_FAILED = { error: { code: OF_THE_TOOL, message: 'of the tool' } };

/** What `fetch` throws. */
export function cutBy(code: string, syscall: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code, syscall }) });
}
