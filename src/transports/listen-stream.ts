/** The stream on which a Streamable HTTP server sends what belongs to no request, opened by the SDK with a GET. */
import { PARSER_GRACE_MS, whenPipedBodyEnds } from './body-end.ts';

export interface ListenRequest {
  opened(response: Response): void;
  ended(): void;
}

export class ListenStream {
  readonly #ended: () => void;
  /** More than one only where a GET was taken for one of these. */
  readonly #open = new Set<ListenRequest>();
  /** Answered by what makes the SDK ask again. */
  #unanswered: ListenRequest | undefined;

  /** `ended`: it is neither open nor being opened any more. */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  /** Open, or being opened. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  opening(): ListenRequest {
    if (this.#unanswered !== undefined) this.#open.delete(this.#unanswered);
    const request: ListenRequest = {
      opened: ({ body }) => {
        if (this.#unanswered === request) this.#unanswered = undefined;
        this.#open.add(request);
        if (body === null) request.ended();
        else whenPipedBodyEnds(body, () => request.ended());
      },
      ended: () => {
        if (this.#open.delete(request) && !this.isOpen) setTimeout(() => this.#check(), PARSER_GRACE_MS);
      },
    };
    this.#unanswered = request;
    this.#open.add(request);
    return request;
  }

  #check(): void {
    if (!this.isOpen) this.#ended();
  }
}
