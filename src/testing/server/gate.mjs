// Every request passes here before it is run, and learns what is to become of it.

/**
 * @param {Record<string, string>} initial method → reaction
 * @param {(held: number) => void} noteHeld told how many requests wait, whenever that changes
 */
export function createGate(initial, noteHeld) {
  const reactions = new Map(Object.entries(initial));
  /** @type {Map<(reaction: string) => void, string>} what lets a request go → its method */
  const waiting = new Map();

  return {
    /** @param {string | undefined} method @returns {string | Promise<string>} */
    reactionTo(method) {
      const reaction = reactions.get(method) ?? 'answer';
      if (reaction !== 'hold') return reaction;
      return new Promise((resolve) => {
        waiting.set(resolve, method);
        noteHeld(waiting.size);
      });
    },
    /** @param {{ method: string, reaction: string }} order */
    when({ method, reaction }) {
      reactions.set(method, reaction);
      if (reaction === 'hold') return;
      const released = [...waiting].filter(([, each]) => each === method).map(([letGo]) => letGo);
      if (released.length === 0) return;
      for (const letGo of released) waiting.delete(letGo);
      noteHeld(waiting.size);
      for (const letGo of released) letGo(reaction);
    },
  };
}
