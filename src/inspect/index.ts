/** `mcp-steward/inspect`: look at a running supervisor. For Node. */
export { type Page, type PageControls, type PageOptions, servePage } from './page/serve-page.ts';
export { type StatelyInspector, type StatelyInspectorOptions, statelyInspector } from './stately.ts';
