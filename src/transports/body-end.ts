/**
 * Tell when a response body has ended, however it ended, without touching what is read from it: a second stream in
 * between would cost more than the whole supervisor. Each reader reads its bodies in one way only.
 */

/** A body that a Streamable HTTP transport reads as an event stream: it pipes it, in both SDK versions. */
export function whenPipedBodyEnds(body: ReadableStream<Uint8Array>, ended: () => void): void {
  body.pipeThrough = (transform, options) => {
    body.pipeTo(transform.writable, options).then(ended, ended);
    return transform.readable;
  };
}

/** A body that the `eventsource` package reads, for legacy SSE: it takes a reader. */
export function whenReadBodyEnds(body: ReadableStream<Uint8Array>, ended: () => void): void {
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>;
  const watched = () => {
    const reader = getReader();
    reader.closed.then(ended, ended);
    return reader;
  };
  body.getReader = watched as typeof body.getReader;
}
