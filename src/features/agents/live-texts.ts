import type { Clock } from '../../ports/clock.js';
import { createReading, type Sentence } from './speech.js';

/** How often the text of an engine is read while it writes, at most, in milliseconds. Each text contains those before it. */
const READ_EVERY_MS = 50;
/** A longer text is not read before the verdict, in UTF-16 units: reading it again and again would hold up other requests. */
const READ_CHARS = 16_384;

type Hear = (turnId: string, sentences: readonly Sentence[]) => void;

/** The sentences that engines are writing in this process, for those who listen. Nothing is kept. */
export type LiveTexts = {
  /**
   * Hears of all that engines write for turns of a stream: each time, all complete sentences of the current attempt. A text is read once, whoever listens.
   * @param hear a function of this listener alone
   * @returns ends it
   */
  listen(stream: string, hear: Hear): () => void;
  /** What takes the text of a turn; undefined while nobody listens to its stream, so that engines need not report it. */
  writerFor(stream: string, turnId: string): ((text: string) => void) | undefined;
};

export const createLiveTexts = (clock: Pick<Clock, 'monotonicMs'>): LiveTexts => {
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
    writerFor: (stream, turnId) => {
      if (!listeners.has(stream)) return undefined;
      const read = createReading(turnId);
      let readMs = -Infinity;
      return (text) => {
        const all = listeners.get(stream);
        if (all === undefined || text.length > READ_CHARS || clock.monotonicMs() - readMs < READ_EVERY_MS) return;
        readMs = clock.monotonicMs();
        const sentences = read(text);
        for (const hear of all) hear(turnId, sentences);
      };
    },
  };
};
