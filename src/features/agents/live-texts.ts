type Hear = (turnId: string, text: string) => void;

/** The texts that engines are writing in this process, for those who listen. Nothing is kept. */
export type LiveTexts = {
  /**
   * Hears of all that engines write for turns of a stream: each time, all that the current attempt has written.
   * @param hear a function of this listener alone
   * @returns ends it
   */
  listen(stream: string, hear: Hear): () => void;
  /** What takes the text of a turn; undefined while nobody listens to its stream, so that engines need not report it. */
  writerFor(stream: string, turnId: string): ((text: string) => void) | undefined;
};

export const createLiveTexts = (): LiveTexts => {
  const listeners = new Map<string, Set<Hear>>();
  return {
    listen: (stream, hear) => {
      const known = listeners.get(stream) ?? new Set();
      listeners.set(stream, known.add(hear));
      return () => {
        known.delete(hear);
        if (known.size === 0 && listeners.get(stream) === known) listeners.delete(stream);
      };
    },
    writerFor: (stream, turnId) =>
      listeners.has(stream)
        ? (text) => {
            for (const hear of listeners.get(stream) ?? []) hear(turnId, text);
          }
        : undefined,
  };
};
