/** Says to logs and listeners what has happened to one connection, after it has. */
import type { ConnectionState } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { ConnectionEvents } from './events.ts';
import { Listeners } from './listeners.ts';
import type { Logger } from './logger.ts';

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
    this.#logger.debug(event, 'Connection state changed');
    this.listeners.emit('transition', event);
    if (to === 'failed-ownership') this.listeners.emit('ownership-failed', event);
  }

  lost(generation: number, cause: Cause): void {
    const event = { connection: this.#connection, generation, cause, at: Date.now() };
    this.#logger.warn(event, 'Connection lost');
    this.listeners.emit('lost', event);
  }

  recreated(generation: number): void {
    const event = { connection: this.#connection, generation, at: Date.now() };
    this.#logger.info(event, 'Connection recreated');
    this.listeners.emit('recreated', event);
  }
}
