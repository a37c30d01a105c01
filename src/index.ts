/** `mcp-steward`: supervises the connections that a host holds to MCP servers. */
export type { ConnectionState } from '../machines/connection.machine.ts';
export type {
  Cause,
  Evidence,
  Execution,
  OperationKind,
  Ownership,
  ReplayPolicy,
} from '../machines/vocabulary.ts';
export type { ClientMethods } from './client-methods.ts';
export type { Clock } from './clock.ts';
export {
  AuthorizationCallbackError,
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  InvalidOptionsError,
  NotConnectedError,
  type OperationFailure,
  OutcomeUnknownError,
  SupervisorError,
  type SupervisorErrorCode,
} from './errors.ts';
export type { ConnectionEvents } from './events.ts';
export type { CarriedSession, ProcessEnd } from './evidence/failure.ts';
export type {
  CallerOwnedConnection,
  ConnectionHandle,
  OwnedConnection,
  SuppliedClient,
  SuppliedSession,
} from './handles.ts';
export type { InspectionObserver } from './inspection.ts';
export type { Logger } from './logger.ts';
export type { ReplayOptions } from './operations.ts';
export type {
  AdoptOptions,
  Connect,
  ConnectContext,
  EvidenceOptions,
  FailureFacts,
  LivenessOptions,
  OwnOptions,
  RecoveryOptions,
  TimeoutOptions,
} from './options.ts';
export type { ConnectionStatus } from './status.ts';
export { createSupervisor, type Supervisor, type SupervisorOptions } from './supervisor.ts';
export type { Telemetry } from './telemetry.ts';
export type { HttpDescription, OwnedTransport, Sdk2, VersionNegotiation } from './transports/recipe.ts';
export type { StdioDescription } from './transports/stdio.ts';
