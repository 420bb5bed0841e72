import type { LiveTexts } from './live-texts.js';
import type { Sentence } from './speech.js';

type Hear = (sentences: readonly Sentence[]) => void;

/** Listens to what engines write for one mind, on behalf of one request. */
export type Listening = {
  /** From now on, hears of the sentences of this turn. */
  begin(turnId: string, hear: Hear): void;
  stop(): void;
};

/** Begins before the turn is opened: an engine reports its text only if somebody listens when it is asked. */
export const listenTo = (live: LiveTexts, stream: string): Listening => {
  let turn: { readonly id: string; readonly hear: Hear } | null = null;
  const stop = live.listen(stream, (turnId, sentences) => {
    if (turn?.id === turnId) turn.hear(sentences);
  });
  return {
    begin: (id, hear) => {
      turn = { id, hear };
    },
    stop,
  };
};
