/** `mcp-steward/inspect`: look at a running supervisor. For Node. */
export { type StatelyInspector, type StatelyInspectorOptions, statelyInspector } from './stately.ts';
