/**
 * SDK v1 takes `callTool(params, resultSchema?, options?)` and `request(request, resultSchema, options?)`, v2 takes
 * neither schema. The second argument tells which it is.
 */
export function isSchemaOrNone(second: unknown): boolean {
  if (second === undefined) return true;
  if (typeof second !== 'object' || second === null) return false;
  return '~standard' in second || '_zod' in second || 'safeParse' in second;
}
