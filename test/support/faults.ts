/** What a test server can be told to do wrong (implemented in test/servers/*faults.mjs). */

interface FaultTarget {
  /** The JSON-RPC method that it hits, `'*'` for any request, or the verbs `GET` and `DELETE`. Default `tools/call`. */
  on?: string;
  /** How often. Default 1. */
  times?: number | 'always';
  /** `after`: the server first really runs the request; that answer is dropped. Default `before`. */
  when?: 'before' | 'after';
}

export type FaultAction =
  /** HTTP only. */
  | {
      kind: 'status';
      status: number;
      body?: string;
      contentType?: string;
      headers?: Record<string, string>;
      /** Seconds or a date. */
      retryAfter?: number | string;
    }
  | { kind: 'accept202' }
  /** 200 with an HTML page; `contentType` may lie. */
  | { kind: 'html'; contentType?: string }
  /** SSE headers, `ms` (30) later the end: clean, or a reset. */
  | { kind: 'clean-eof'; ms?: number }
  | { kind: 'reset-after-headers'; ms?: number }
  /** SSE headers and then nothing; on `GET` of legacy SSE: no `endpoint` event. */
  | { kind: 'sse-silent' }
  /** No headers: RST or FIN. */
  | { kind: 'reset' }
  | { kind: 'fin' }
  /** Held until `release()`, then served. */
  | { kind: 'hold' }
  /** HTTP and stdio. */
  | { kind: 'rpc-error'; code: number; message?: string; data?: unknown; status?: number }
  | { kind: 'result'; result: unknown }
  | { kind: 'broken-json' }
  | { kind: 'wrong-version' }
  | { kind: 'huge'; bytes: number }
  | { kind: 'never' }
  | { kind: 'delay'; ms: number }
  | { kind: 'exit'; code?: number };

export type Fault = FaultTarget & FaultAction;
