import type { Clock } from '../../ports/clock.js';
import type { LiveTexts } from './live-texts.js';

/** How often the text of an engine is read while it writes, at most, in milliseconds. Each text contains those before it. */
const READ_EVERY_MS = 50;
/** A longer text is not read before the verdict, in UTF-16 units: several requests may listen to the same turn. */
const READ_CHARS = 16_384;

/** Listens to what engines write for one mind, on behalf of one request. */
export type Listening = {
  /** From now on, hears of the texts of this turn. */
  begin(turnId: string, hear: (text: string) => void): void;
  stop(): void;
};

/** Begins before the turn is opened: an engine reports its text only if somebody listens when it is asked. */
export const listenTo = (live: LiveTexts, stream: string, clock: Pick<Clock, 'monotonicMs'>): Listening => {
  let turn: { readonly id: string; readonly hear: (text: string) => void } | null = null;
  let readMs = -Infinity;
  const stop = live.listen(stream, (turnId, text) => {
    if (turn?.id !== turnId || text.length > READ_CHARS || clock.monotonicMs() - readMs < READ_EVERY_MS) return;
    readMs = clock.monotonicMs();
    turn.hear(text);
  });
  return {
    begin: (id, hear) => {
      turn = { id, hear };
    },
    stop,
  };
};
