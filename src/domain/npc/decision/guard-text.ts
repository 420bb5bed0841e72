import { wellFormed } from '../../shared/text.js';

/**
 * What models take for the edge of a message: `<|...|>` of ChatML and Llama 3 (also with the full-width bar), `###` of Alpaca, and the
 * marks of Llama 2, Mistral and Gemma, because a model server may read them in any prompt.
 */
const CONTROL = /<(?=[|｜])|(?<=[|｜])>|#(?=##)|(?<=##)#|<(?=\/?s>|<\/?sys>|(?:start|end)_of_turn>)|\[(?=\/?inst\])/giu;

/** What every mark holds in some form: most texts hold none of it, and looking for that is far quicker. */
const SUSPECT = /<[|｜/<se]|[|｜]>|###|\[\/?i/i;

/** A text that cannot end the message it stands in: every control mark is pulled apart by spaces. Other text stays as it is. */
export const guardText = (text: string): string => {
  const sound = wellFormed(text);
  return SUSPECT.test(sound) ? sound.replace(CONTROL, (mark) => (mark === '>' ? ` ${mark}` : `${mark} `)) : sound;
};
