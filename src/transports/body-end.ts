/**
 * Tell when a response body has ended, without touching what is read from it: a second stream in between would cost
 * more than the whole supervisor. Each reader reads its bodies in one way only.
 */

/** A last chunk may still be on its way through the SDK's parser when the stream under it has ended. */
export const PARSER_GRACE_MS = 25;

/** `ended`: as the server wanted. `broke`: it was reset, cut short, or aborted here. */
export type BodyEnd = 'ended' | 'broke';

/** A body that a Streamable HTTP transport reads as an event stream: it pipes it, in both SDK versions. */
export function whenPipedBodyEnds(body: ReadableStream<Uint8Array>, ended: (how: BodyEnd) => void): void {
  body.pipeThrough = (transform, options) => {
    body.pipeTo(transform.writable, options).then(
      () => ended('ended'),
      () => ended('broke'),
    );
    return transform.readable;
  };
}

/** A response that a Streamable HTTP transport reads as JSON, in both SDK versions. */
export function whenJsonIsRead(response: Response, ended: (how: BodyEnd) => void): void {
  const json = response.json.bind(response);
  response.json = () => {
    const reading = json();
    reading.then(
      () => ended('ended'),
      () => ended('broke'),
    );
    return reading;
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
