// A queue of faults. Each names the JSON-RPC method that it hits ('*' for any request, or the HTTP
// verbs 'GET' and 'DELETE') and how often; what a fault does on the wire is said by the transport.

export class Faults {
  #queue;

  /** @param {object[]} [initial] faults that are there from the start */
  constructor(initial = []) {
    this.#queue = initial.map((fault) => ({ ...fault }));
  }

  add(fault) {
    this.#queue.push({ ...fault });
  }

  clear() {
    this.#queue = [];
  }

  /** Takes the first fault that matches, once. `times: 'always'` is never used up. */
  take(method) {
    const found = this.#queue.find((fault) => {
      const on = fault.on ?? 'tools/call';
      return on === method || (on === '*' && method !== 'GET' && method !== 'DELETE');
    });
    if (!found) return undefined;
    if (found.times !== 'always') {
      found.times = (found.times ?? 1) - 1;
      if (found.times <= 0) this.#queue.splice(this.#queue.indexOf(found), 1);
    }
    return found;
  }
}

/**
 * The JSON-RPC message that a fault answers with, for the faults that stay inside the protocol.
 * @returns {object | undefined}
 */
export function inBandAnswer(fault, id) {
  switch (fault.kind) {
    case 'rpc-error':
      return {
        jsonrpc: '2.0',
        id,
        error: { code: fault.code, message: fault.message ?? 'fault', data: fault.data },
      };
    case 'result':
      return { jsonrpc: '2.0', id, result: fault.result };
    case 'wrong-version':
      return {
        jsonrpc: '2.0',
        id,
        result: {
          protocolVersion: '1999-01-01',
          capabilities: {},
          serverInfo: { name: 'old', version: '0' },
        },
      };
    case 'huge':
      return { jsonrpc: '2.0', id, result: { filler: 'x'.repeat(fault.bytes) } };
  }
}
