/**
 * Tells when a response body has ended, however it ended, without touching what is read from it: a second stream
 * in between would cost more than the whole supervisor. Streamable HTTP transports read with `pipeThrough`, the
 * `eventsource` package with `getReader`.
 */
export function whenBodyEnds(body: ReadableStream<Uint8Array>, ended: () => void): void {
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>;
  Object.assign(body, {
    pipeThrough<T>(transform: ReadableWritablePair<T, Uint8Array>, options?: StreamPipeOptions) {
      body.pipeTo(transform.writable, options).then(ended, ended);
      return transform.readable;
    },
    getReader() {
      const reader = getReader();
      reader.closed.then(ended, ended);
      return reader;
    },
  });
}
