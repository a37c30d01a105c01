/** Says to logs and listeners what has happened to one connection, after it has: one line for each of it. */
import type {
  ConnectionState,
  OpenFailure,
  OpenInput,
  ProbeInput,
  ProbeOutcome,
} from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { ConnectionEvents } from './events.ts';
import { Listeners } from './listeners.ts';
import type { Logger } from './logger.ts';
import type { ListenStreamLoss } from './transports/subscriptions.ts';

/** States in which nothing more happens by itself. */
const NEEDS_SOMEBODY: readonly ConnectionState[] = ['failed-ownership', 'exhausted'];

export class Announcer {
  readonly listeners: Listeners<ConnectionEvents>;
  readonly #connection: string;
  readonly #logger: Logger;

  constructor(connection: string, logger: Logger) {
    this.#connection = connection;
    this.#logger = logger;
    this.listeners = new Listeners((event) => logger.error({ connection, event }, 'A listener threw'));
  }

  transition(from: ConnectionState, to: ConnectionState, generation: number, cause: Cause | undefined): void {
    const event = { connection: this.#connection, from, to, generation, cause, at: Date.now() };
    this.#logger[NEEDS_SOMEBODY.includes(to) ? 'warn' : 'debug'](event, 'Connection state changed');
    this.listeners.emit('transition', event);
    if (to === 'failed-ownership') this.listeners.emit('ownership-failed', event);
  }

  lost(generation: number, cause: Cause): void {
    const event = { connection: this.#connection, generation, cause, at: Date.now() };
    this.#logger.warn(event, 'Connection lost');
    this.listeners.emit('lost', event);
  }

  recreated(
    generation: number,
    protocolVersion: string | undefined,
    previousProtocolVersion: string | undefined,
  ): void {
    const versions = { protocolVersion, previousProtocolVersion };
    const event = { connection: this.#connection, generation, ...versions, at: Date.now() };
    this.#logger.info(event, 'Connection recreated');
    this.listeners.emit('recreated', event);
  }

  listenStreamLost(generation: number, loss: ListenStreamLoss): void {
    const event = { connection: this.#connection, generation, ...loss, at: Date.now() };
    this.#logger.warn(event, 'Stream for changes lost');
    this.listeners.emit('listen-stream-lost', event);
  }

  /** The URL is for listeners only. */
  authorizationRequired(url: URL, generation: number): void {
    const event = { connection: this.#connection, generation, at: Date.now() };
    this.#logger.info(event, 'Somebody has to sign in');
    this.listeners.emit('authorization-required', { ...event, url: new URL(url) });
  }

  dialFailed({ generation, attempt }: OpenInput, { cause, permanent, retryAfterMs }: OpenFailure): void {
    const facts = { connection: this.#connection, generation, attempt, cause, permanent, retryAfterMs };
    this.#logger.warn(facts, 'Dial failed');
  }

  notEnded(generation: number, { cause }: OpenFailure): void {
    this.#logger.warn({ connection: this.#connection, generation, cause }, 'Dial put off');
  }

  probed({ generation, suspicion }: ProbeInput, { verdict, cause }: ProbeOutcome): void {
    const facts = { connection: this.#connection, generation, suspicion, verdict, cause };
    if (verdict === 'usable') this.#logger.debug({ ...facts, cause: undefined }, 'Probe passed');
    else this.#logger.warn(facts, verdict === 'lost' ? 'Probe failed' : 'Probe unanswered');
  }
}
