import { dialogueSoFar } from '../turns/domain/decision/dialogue-so-far.js';
import { sentencesOf } from './sentences.js';

/** A sentence of a stream of dialogue. */
export type Sentence = {
  readonly event: 'dialogue';
  readonly data: { readonly turnId: string; readonly index: number; readonly text: string };
};
/** One event of a stream of dialogue. */
export type SpeechEvent =
  | Sentence
  | { readonly event: 'dialogue.retract'; readonly data: { readonly turnId: string; readonly dialogue: string } };

const eventsOf = (turnId: string, texts: readonly string[], before: number): readonly Sentence[] =>
  texts.map((text, index) => ({ event: 'dialogue', data: { turnId, index: before + index, text } }));
const textOf = (sentences: readonly Sentence[]): string => sentences.map(({ data }) => data.text).join('');

/**
 * Reads what an engine writes for one turn.
 * @returns all complete sentences of its dialogue so far; the last one may go on
 */
export const createReading = (turnId: string): ((output: string) => readonly Sentence[]) => {
  let known: readonly Sentence[] = [];
  return (output) => {
    const dialogue = dialogueSoFar(output);
    if (!dialogue.startsWith(textOf(known))) known = [];
    const more = sentencesOf(dialogue.slice(textOf(known).length), known.length).slice(0, -1);
    known = [...known, ...eventsOf(turnId, more, known.length)];
    return known;
  };
};

/** The dialogue of one turn, sentence by sentence, for one request. */
export type Speech = {
  /** The events for what an engine has written so far, while it continues. @param sentences of its current attempt */
  writing(sentences: readonly Sentence[]): readonly SpeechEvent[];
  /** The events for the dialogue that the verdict allows. */
  decided(dialogue: string): readonly SpeechEvent[];
  /** The events for a turn that says none of what was sent. @param dialogue what is said instead */
  withdrawn(dialogue: string): readonly SpeechEvent[];
};

/** Keeps what was sent, so that whatever turns out not to be said is taken back. */
export const createSpeech = (
  turnId: string,
  sentences: (text: string, before: number) => readonly string[] = sentencesOf,
): Speech => {
  let sent: readonly Sentence[] = [];
  const withdrawn = (dialogue: string): readonly SpeechEvent[] => {
    if (sent.length === 0) return [];
    sent = [];
    return [{ event: 'dialogue.retract', data: { turnId, dialogue } }];
  };
  return {
    writing: (written) => {
      const continues = sent.every(({ data }, index) => data.text === written[index]?.data.text);
      const retracted = continues ? [] : withdrawn('');
      const more = written.slice(sent.length);
      sent = written;
      return [...retracted, ...more];
    },
    decided: (dialogue) => {
      const text = textOf(sent);
      if (!dialogue.startsWith(text)) return withdrawn(dialogue);
      return eventsOf(turnId, sentences(dialogue.slice(text.length), sent.length), sent.length);
    },
    withdrawn,
  };
};
