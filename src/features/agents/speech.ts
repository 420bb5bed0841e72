import { dialogueSoFar } from '../turns/domain/decision/dialogue-so-far.js';
import { sentencesOf } from './sentences.js';

/** One event of a stream of dialogue. */
export type SpeechEvent =
  | {
      readonly event: 'dialogue';
      readonly data: { readonly turnId: string; readonly index: number; readonly text: string };
    }
  | { readonly event: 'dialogue.retract'; readonly data: { readonly turnId: string; readonly dialogue: string } };

/** The dialogue of one turn, sentence by sentence. */
export type Speech = {
  /** The events for what an engine has written so far, while it continues. */
  writing(output: string): readonly SpeechEvent[];
  /** The events for the dialogue that the verdict allows. */
  decided(dialogue: string): readonly SpeechEvent[];
  /** The events for a turn that says none of what was sent. @param dialogue what is said instead */
  withdrawn(dialogue: string): readonly SpeechEvent[];
};

/** Keeps what was sent, so that whatever turns out not to be said is taken back. */
export const createSpeech = (turnId: string): Speech => {
  let sent = '';
  let count = 0;
  const withdrawn = (dialogue: string): readonly SpeechEvent[] => {
    if (sent === '') return [];
    sent = '';
    count = 0;
    return [{ event: 'dialogue.retract', data: { turnId, dialogue } }];
  };
  const spoken = (sentences: readonly string[]): readonly SpeechEvent[] =>
    sentences.map((text) => {
      sent += text;
      count += 1;
      return { event: 'dialogue', data: { turnId, index: count - 1, text } };
    });
  return {
    writing: (output) => {
      const dialogue = dialogueSoFar(output);
      const retracted = dialogue.startsWith(sent) ? [] : withdrawn('');
      // The last sentence may go on.
      return [...retracted, ...spoken(sentencesOf(dialogue.slice(sent.length)).slice(0, -1))];
    },
    decided: (dialogue) =>
      dialogue.startsWith(sent) ? spoken(sentencesOf(dialogue.slice(sent.length))) : withdrawn(dialogue),
    withdrawn,
  };
};
