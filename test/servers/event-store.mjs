// Resumability: remembers every event, in order, for the life of the process.

export class MemoryEventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length - 1);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[Number(eventId)]?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const streamId = this.#events[Number(lastEventId)]?.streamId ?? '';
    for (let n = Number(lastEventId) + 1; n < this.#events.length; n++) {
      const event = this.#events[n];
      if (event.streamId === streamId && event.message.jsonrpc) await send(String(n), event.message);
    }
    return streamId;
  }
}
