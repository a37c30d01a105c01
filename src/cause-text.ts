import type { Cause } from '../machines/vocabulary.ts';

/** Each cause in words that hold for whoever owns the connection. */
export const CAUSE_TEXT: Readonly<Record<Cause, string>> = {
  'session-unknown': 'the server no longer knows the session',
  'session-rejected': 'the server rejected the session',
  'session-error': 'the server answered that the session is not usable',
  unreachable: 'no connection could be made to the server',
  'not-connected': 'the client is not connected',
  unwritten: "the server's stdin is closed",
  'connection-closed': 'the connection closed',
  'stream-ended': 'the event stream of the session ended',
  'request-cut': 'the exchange was cut before an answer',
  'answer-lost': 'the exchange ended before the answer',
  timeout: 'no answer came in the time allowed',
  heartbeat: 'heartbeats went unanswered',
  deaf: 'the stream for messages from the server is gone',
  aborted: 'the caller aborted',
  unauthorized: 'the server wants other credentials',
  'http-refused': 'the server refused the request',
  'http-error': 'the server, or a gateway before it, failed',
  'malformed-answer': 'the answer was not an MCP message',
  'rpc-error': 'the server answered with an error',
  unsupported: 'the server or the protocol revision does not have this request',
  unrecognised: 'an error of an unknown kind occurred',
  replaced: 'the caller supplied another connection',
  requested: 'the host asked for a new connection',
  closed: 'the host closed it',
};
