/**
 * One shape for the errors of SDK v1, SDK v2, `fetch` and Node. By fields, not by `instanceof`: a host may have
 * several copies of the SDK, and v1 leaves `name` at "Error" for its HTTP errors.
 */

export interface SystemCode {
  readonly code: string;
  readonly syscall: string | undefined;
}

/** A JSON-RPC error as it came over HTTP. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  /** Of the request that it answers, if it names one. */
  readonly id: string | number | undefined;
}

export interface ErrorShape {
  readonly name: string;
  readonly className: string;
  readonly message: string;
  /** `code`, when it is one of the SDK's words (v2) or a JSON-RPC number. */
  readonly code: string | number | undefined;
  /** It carries a JSON-RPC error object: then `code` is no HTTP status, even if it is 404. */
  readonly isRpc: boolean;
  /** HTTP status of the answer to a POST. */
  readonly status: number | undefined;
  /** The JSON-RPC error in the body of that answer. */
  readonly body: RpcError | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** The message of its `cause`. */
  readonly causeMessage: string;
  /** System error codes found on the error and along its `cause` chain. */
  readonly systemCodes: readonly SystemCode[];
}

const MAX_CAUSE_DEPTH = 4;
const V1_BODY_PREFIX = 'Streamable HTTP error: Error POSTing to endpoint: ';
const SSE_POST_FAILURE = /^Error POSTing to endpoint \(HTTP (\d{3})\): /;
const SYSTEM_CODE =
  /^(E[A-Z0-9_]{2,}|UND_ERR_[A-Z_]+|HPE_[A-Z_]+|[A-Z_]*(CERT|SSL|TLS|ISSUER|LEAF_SIGNATURE)[A-Z_]*)$/;

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function systemCodesOf(error: unknown): SystemCode[] {
  const codes: SystemCode[] = [];
  let current = record(error);
  for (let depth = 0; depth <= MAX_CAUSE_DEPTH; depth++) {
    // Node tries each address of a name, and tells of all in one error, which has only the code of the first.
    const tried = Array.isArray(current.errors) ? current.errors : [current];
    for (const each of tried) codes.push(...systemCodeOf(record(each)));
    current = record(current.cause);
  }
  return codes;
}

/** `erroredSysCall`: as `node-fetch` has it, which a host may use. */
function systemCodeOf(fields: Readonly<Record<string, unknown>>): SystemCode[] {
  const { name, code, erroredSysCall, syscall = erroredSysCall } = fields;
  // SDK v2 has codes of its own (ERA_NEGOTIATION_FAILED, …) which also start with E.
  if (!SYSTEM_CODE.test(text(code)) || text(name).startsWith('Sdk')) return [];
  return [{ code: text(code), syscall: typeof syscall === 'string' ? syscall : undefined }];
}

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599;
}

function statusOf(fields: Readonly<Record<string, unknown>>, isRpc: boolean): number | undefined {
  if (isRpc) return undefined;
  for (const candidate of [fields.status, record(fields.data).status, fields.code]) {
    if (isHttpStatus(candidate)) return candidate;
  }
  const legacy = text(fields.name) === 'Error' && SSE_POST_FAILURE.exec(text(fields.message));
  return legacy ? Number(legacy[1]) : undefined;
}

function bodyOf(message: string, data: Readonly<Record<string, unknown>>): ErrorShape['body'] {
  let raw = text(data.text);
  if (raw === '' && message.startsWith(V1_BODY_PREFIX)) raw = message.slice(V1_BODY_PREFIX.length);
  if (raw === '') raw = message.replace(SSE_POST_FAILURE, '');
  if (!raw.startsWith('{')) return undefined;
  try {
    const { id, error: found } = record(JSON.parse(raw));
    const error = record(found);
    if (typeof error.code !== 'number') return undefined;
    const named = typeof id === 'string' || typeof id === 'number' ? id : undefined;
    return { code: error.code, message: text(error.message), id: named };
  } catch {
    return undefined;
  }
}

/** True for the plain error that the legacy SSE transport throws for a refused POST. */
export function isLegacySsePostFailure(shape: ErrorShape): boolean {
  return shape.name === 'Error' && SSE_POST_FAILURE.test(shape.message);
}

export function shapeOf(error: unknown): ErrorShape {
  const fields = record(error);
  const name = text(fields.name);
  const message = text(fields.message);
  const isRpc = name === 'McpError' || name === 'ProtocolError';
  const data = record(fields.data);
  const status = statusOf(fields, isRpc);
  return {
    name,
    className:
      text(record(fields.constructor).name) || (error instanceof Error ? error.constructor.name : ''),
    message,
    code: typeof fields.code === 'string' || typeof fields.code === 'number' ? fields.code : undefined,
    isRpc,
    status,
    body: status === undefined ? undefined : bodyOf(message, data),
    data,
    causeMessage: text(record(fields.cause).message),
    systemCodes: isRpc ? [] : systemCodesOf(error),
  };
}
