/** A supervisor is a map of connections by name, and closes them all. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/sdk/types.js';
import type { Ownership } from '../machines/vocabulary.ts';
import { SignIn } from './authorization/sign-in.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { deferredObserver } from './deferred-observer.ts';
import { ConnectionClosedError, InvalidOptionsError } from './errors.ts';
import {
  type CallerOwnedConnection,
  type ConnectionHandle,
  checkSupplied,
  LentConnection,
  type OwnedConnection,
  SupervisedConnection,
  type SuppliedClient,
  type SuppliedSession,
} from './handles.ts';
import type { Page, PageOptions } from './inspect/page/serve-page.ts';
import { Inspection, type InspectionObserver, offerInspection } from './inspection.ts';
import { LentLine } from './lent-line.ts';
import { guardedLogger, type Logger } from './logger.ts';
import type { AdoptOptions, OwnOptions } from './options.ts';
import { OwnedLine } from './owned-line.ts';
import { type AttachedTelemetry, guardedTelemetry, type Telemetry } from './telemetry.ts';
import type { ClientShape, SessionShape } from './transports/client-shape.ts';
import { sessionAsClient } from './transports/session-client.ts';
import { adoptSettings, checkName, checkSupervisorOptions, ownSettings } from './validation.ts';

/** `OwnedClient`: what `setup` takes; a client of SDK v1, unless the host says that its transports are made by v2. */
export interface SupervisorOptions<OwnedClient = Client> {
  /** Who this host is, towards every server. */
  readonly clientInfo: Implementation;
  readonly capabilities?: ClientCapabilities | undefined;
  /**
   * Runs on the new client of every generation before its handshake: the place for request and notification
   * handlers. Not for clients that `connect` returns: those come as that function made them.
   */
  readonly setup?: ((client: OwnedClient) => void | Promise<void>) | undefined;
  /**
   * Looks on at the machines: any XState inspection observer, such as `statelyInspector()` of `mcp-steward/inspect`
   * or the `inspect` of an inspector of `@statelyai/inspect`. It is told soon after each step, in order, and never
   * in the middle of one; what it throws harms no call. It runs on the host's own thread, a few milliseconds at a
   * time; one that falls behind by 20 000 events is not told all of them. No machine holds a header, a token, an
   * argument, a result or an error text.
   */
  readonly inspect?: InspectionObserver | undefined;
  /** Traces and metrics: `openTelemetry()` of `mcp-steward/opentelemetry`. */
  readonly telemetry?: Telemetry | undefined;
  readonly logger?: Logger | undefined;
  /** Runs the machines' timers; for tests. */
  readonly clock?: Clock | undefined;
}

export interface Supervisor extends AsyncDisposable {
  /** All connections that are not closed, in the order in which they were added. */
  readonly connections: ReadonlyMap<string, ConnectionHandle>;

  /**
   * A connection that the supervisor makes, recreates and closes. Starts connecting at once unless `lazy`.
   * @throws {InvalidOptionsError} for a wrong or unknown option, or a name that is taken. Nothing is opened then.
   * @throws {ConnectionClosedError} after `close()`.
   */
  own(name: string, options: OwnOptions): OwnedConnection;

  /**
   * A connected high-level client of the caller's (SDK v1 or v2). It is used and watched; it is never connected,
   * closed or replaced here.
   * @throws {NotConnectedError} when it is not connected.
   * @throws {InvalidOptionsError} see `own`.
   */
  adopt(name: string, client: SuppliedClient, options?: AdoptOptions): CallerOwnedConnection<SuppliedClient>;

  /** Like `adopt`, for a low-level session: anything with the SDK's `request()`. */
  adoptSession(
    name: string,
    session: SuppliedSession,
    options?: AdoptOptions,
  ): CallerOwnedConnection<SuppliedSession>;

  /**
   * Serves a web page on 127.0.0.1 that shows every connection as it runs: its state in the statechart, operations in
   * trouble, recoveries, a log of every step. Node only. It keeps no process alive; close it, or let the process end.
   * @throws {Error} (as a rejection) the port is taken.
   */
  page(options?: PageOptions): Promise<Page>;

  /** Closes what it owns, gives back what it was lent. Resolves when all is done; may be called again. */
  close(): Promise<void>;
}

/**
 * @throws {InvalidOptionsError} for a wrong or unknown option.
 * @example
 * const supervisor = createSupervisor({ clientInfo: { name: 'my-host', version: '1.0.0' } });
 * const files = supervisor.own('files', { transport: { kind: 'http', url: 'http://127.0.0.1:3000/mcp' } });
 * await files.callTool({ name: 'read', arguments: { path: 'a.txt' } });
 * await supervisor.close();
 */
export function createSupervisor<OwnedClient = Client>(options: SupervisorOptions<OwnedClient>): Supervisor {
  return new SupervisorMap(options as SupervisorOptions<never> as SupervisorOptions);
}

class SupervisorMap implements Supervisor {
  readonly #inspection = new Inspection();
  readonly #connections = new Map<string, Connection & ConnectionHandle>();
  readonly #options: SupervisorOptions;
  readonly #logger: Logger;
  readonly #telemetry: AttachedTelemetry | undefined;
  #closed = false;

  constructor(options: SupervisorOptions) {
    checkSupervisorOptions(options);
    this.#options = options;
    this.#logger = guardedLogger(options.logger);
    offerInspection(this, this.#inspection);
    if (options.inspect !== undefined) {
      const complain = (complaint: string) => this.#logger.error({}, complaint);
      this.#inspection.add(deferredObserver(options.inspect, complain));
    }
    if (options.telemetry !== undefined)
      this.#telemetry = guardedTelemetry(options.telemetry, this.#inspection);
  }

  get connections(): ReadonlyMap<string, ConnectionHandle> {
    return this.#connections;
  }

  own(name: string, options: OwnOptions): OwnedConnection {
    this.#checkName(name);
    const settings = ownSettings(name, options);
    const { clientInfo, capabilities, setup, clock } = this.#options;
    const identity = { clientInfo, capabilities, setup };
    const signIn = SignIn.of(options.transport, settings.recovery.waitForReady);
    const handle = new SupervisedConnection({
      name,
      signIn,
      ownership: 'supervisor',
      settings,
      logger: this.#logger,
      clock,
      inspection: this.#inspection,
      telemetry: this.#telemetry,
      line: (hooks) => new OwnedLine(options, identity, settings, signIn, hooks),
    });
    return this.#add(handle) as unknown as OwnedConnection;
  }

  adopt(
    name: string,
    client: SuppliedClient,
    options: AdoptOptions = {},
  ): CallerOwnedConnection<SuppliedClient> {
    return this.#lend(name, 'caller-client', client, options, (supplied) => supplied as ClientShape);
  }

  adoptSession(
    name: string,
    session: SuppliedSession,
    options: AdoptOptions = {},
  ): CallerOwnedConnection<SuppliedSession> {
    return this.#lend(name, 'caller-session', session, options, sessionAsClient);
  }

  async page(options?: PageOptions): Promise<Page> {
    // Only now: it needs Node, and this file runs in browsers too.
    const { servePage } = await import('./inspect/page/serve-page.ts');
    return servePage(this, options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
    this.#telemetry?.detach();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #lend<Supplied>(
    name: string,
    ownership: Ownership,
    supplied: Supplied,
    options: AdoptOptions,
    asClient: (supplied: SessionShape) => ClientShape,
  ): CallerOwnedConnection<Supplied> {
    this.#checkName(name);
    const settings = adoptSettings(name, options);
    checkSupplied(name, ownership, supplied);
    const handle = new LentConnection({
      name,
      signIn: undefined,
      ownership,
      settings,
      logger: this.#logger,
      clock: this.#options.clock,
      inspection: this.#inspection,
      telemetry: this.#telemetry,
      line: (hooks) => new LentLine(supplied, asClient, hooks),
    });
    return this.#add(handle) as unknown as CallerOwnedConnection<Supplied>;
  }

  #checkName(name: unknown): void {
    checkName(name);
    if (this.#closed) throw new ConnectionClosedError({ connection: name, sent: false });
    if (this.#connections.has(name)) {
      throw new InvalidOptionsError(name, 'name', 'a connection of this name exists; close it first');
    }
  }

  #add(handle: Connection): Connection {
    this.#connections.set(handle.name, handle as Connection & ConnectionHandle);
    handle.on('transition', ({ to }) => {
      if (to === 'closed') this.#connections.delete(handle.name);
    });
    return handle;
  }
}
