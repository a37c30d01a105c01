/** What kind of failure a caller got: one word of a closed set, or a JSON-RPC error's number. No text of anyone's. */
import type { Attributes } from '@opentelemetry/api';
import type { Evidence } from '../../machines/vocabulary.ts';
import { SupervisorError } from '../errors.ts';
import { ERROR_TYPE, RPC_STATUS } from './attributes.ts';

/** `evidence`: of the last send, if that failed. `outcome`: the final state of the operation. */
export function errorAttributes(error: unknown, evidence: Evidence | undefined, outcome: string): Attributes {
  if (error instanceof SupervisorError) return { [ERROR_TYPE]: error.code };
  if (outcome === 'cancelled' || evidence?.cause === 'aborted') return { [ERROR_TYPE]: 'aborted' };
  if (evidence?.cause === 'timeout') return { [ERROR_TYPE]: 'timeout' };
  const { code } = Object(error) as { code?: unknown };
  const isFromServer = evidence?.cause === 'rpc-error' || evidence?.cause === 'session-error';
  if (!isFromServer || !Number.isSafeInteger(code)) return { [ERROR_TYPE]: '_OTHER' };
  return { [ERROR_TYPE]: String(code), [RPC_STATUS]: String(code) };
}
