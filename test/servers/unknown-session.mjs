// How servers in the wild answer a request for a session that they do not know.

const rpc = (code, message) => (id) => JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
const withoutId = (code, message) => () => JSON.stringify({ jsonrpc: '2.0', error: { code, message } });

/** name → [status, content type, body for a request id] */
const ANSWERS = {
  '404-json': [404, 'application/json', rpc(-32001, 'Session not found')],
  '404-html': [404, 'text/html', () => '<!doctype html><title>404</title><h1>Not Found</h1>'],
  '404-empty': [404, undefined, () => ''],
  '404-32002': [404, 'application/json', rpc(-32002, 'Session not found')],
  '404-32600': [404, 'application/json', rpc(-32600, 'Session terminated')],
  // server-everything and the many that were copied from the same old example
  '400-no-valid-session': [
    400,
    'application/json',
    withoutId(-32000, 'Bad Request: No valid session ID provided'),
  ],
  // a fresh SDK transport that was never initialised
  '400-not-initialized': [400, 'application/json', rpc(-32000, 'Bad Request: Server not initialized')],
  '400-other': [400, 'application/json', rpc(-32602, 'Invalid params')],
  410: [410, 'text/plain', () => 'Gone'],
  500: [500, 'text/plain', () => 'Internal Server Error'],
  503: [503, 'text/plain', () => 'Service Unavailable'],
  'inband-32001': [200, 'application/json', rpc(-32001, 'Session not found')],
};

export function answerUnknownSession(style, res, id) {
  const [status, contentType, body] = ANSWERS[style ?? '404-json'];
  res.writeHead(status, contentType && { 'content-type': contentType }).end(body(id ?? null));
}
