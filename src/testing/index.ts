/**
 * `mcp-steward/testing`: for the tests of hosts. A real server that does wrong what it is told, and every recovery
 * route, to be walked on the host's own embedding.
 */
export type { Embed, Embedding, Situation } from './embedding.ts';
export type { FaultCounts } from './fault-counts.ts';
export type { FaultMethod, FaultServerOptions, FaultTransport, Reaction } from './fault-reactions.ts';
export { FaultServer } from './fault-server.ts';
export { RecoveryRoute, RouteError } from './recovery-route.ts';
export { type RouteSelection, recoveryRoutes } from './recovery-routes.ts';
export type { Outcome, RouteEvent, RouteStep, ServerSees } from './route.ts';
