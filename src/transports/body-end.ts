/**
 * Tell when a response body has ended, without touching what is read from it: a second stream in between would cost
 * more than the whole supervisor. Each reader reads its bodies in one way only.
 */

/** A last chunk may still be on its way through the SDK's parser when the stream under it has ended. */
export const PARSER_GRACE_MS = 25;

/** `ended`: as the server wanted. `broke`: it was reset, cut short, or aborted here. */
export type BodyEnd = 'ended' | 'broke';

/** As the SDK's parser makes it. */
export interface StreamEvent {
  readonly id?: string | undefined;
  readonly data: string;
}

/**
 * A body that a Streamable HTTP transport reads as an event stream: it pipes it, in both SDK versions. `read` is told
 * of each event, while the SDK is about to handle it.
 */
export function whenPipedBodyEnds(
  body: ReadableStream<Uint8Array>,
  ended: (how: BodyEnd) => void,
  read?: (event: StreamEvent) => void,
): void {
  body.pipeThrough = (transform, options) => {
    body.pipeTo(transform.writable, options).then(
      () => ended('ended'),
      () => ended('broke'),
    );
    if (read !== undefined) watchEvents(transform.readable as unknown as ReadableStream<string>, read);
    return transform.readable;
  };
}

/** Both SDK versions pipe the decoded text through their parser, and take a reader of its events. */
function watchEvents(text: ReadableStream<string>, heard: (event: StreamEvent) => void): void {
  const pipeThrough = text.pipeThrough.bind(text);
  text.pipeThrough = (parser, options) => {
    const events = pipeThrough(parser, options);
    const getReader = events.getReader.bind(events) as () => ReadableStreamDefaultReader<StreamEvent>;
    const watched = () => {
      const reader = getReader();
      const read = reader.read.bind(reader);
      reader.read = async () => {
        const result = await read();
        if (!result.done) heard(result.value);
        return result;
      };
      return reader;
    };
    events.getReader = watched as unknown as typeof events.getReader;
    return events;
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
