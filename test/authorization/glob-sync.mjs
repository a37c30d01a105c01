// The conformance suite imports `globSync` of `fs`, which Node 20 does not have, for commands that are not used here.
import { register } from 'node:module';

const SOURCE = `export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];`;

register(
  `data:text/javascript,${encodeURIComponent(`
export function resolve(specifier, context, next) {
  const isOfSuite = context.parentURL?.includes('@modelcontextprotocol/conformance/');
  if (!isOfSuite || !['fs', 'node:fs'].includes(specifier)) return next(specifier, context);
  return { url: 'fs-with-glob:', shortCircuit: true };
}
export function load(url, context, next) {
  if (url !== 'fs-with-glob:') return next(url, context);
  return { format: 'module', shortCircuit: true, source: ${JSON.stringify(SOURCE)} };
}
`)}`,
);
