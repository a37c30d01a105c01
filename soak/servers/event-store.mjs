// Resumable streams: the last events of the process, in order.
const KEPT = 2_000;

export class EventStore {
  /** id → { streamId, message }, oldest first */
  #events = new Map();
  #last = 0;

  async storeEvent(streamId, message) {
    const id = String(++this.#last);
    this.#events.set(id, { streamId, message });
    this.#events.delete(String(this.#last - KEPT));
    return id;
  }

  async getStreamIdForEventId(id) {
    return this.#events.get(id)?.streamId;
  }

  async replayEventsAfter(lastId, { send }) {
    const streamId = this.#events.get(lastId)?.streamId;
    for (let id = Number(lastId) + 1; id <= this.#last; id++) {
      const event = this.#events.get(String(id));
      // The first event of a stream carries no message.
      if (event?.streamId === streamId && event.message.jsonrpc) await send(String(id), event.message);
    }
    return streamId;
  }
}
