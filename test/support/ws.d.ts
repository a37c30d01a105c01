// `ws` brings no types; all that we use of it is the browser's WebSocket.
declare module 'ws' {
  export const WebSocket: typeof globalThis.WebSocket;
}
