const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });
/** How many sentences of one text are told apart: finding one takes up to 20 microseconds. */
const SENTENCES = 256;
/** How many texts are remembered: all requests that follow a turn need the sentences of the same text at the same time. */
const TEXTS = 16;

/**
 * The sentences of a text, each with the white space behind it: together they are the text (Unicode UAX 29). All that follows the first SENTENCES is one
 * more.
 * @param before how many sentences precede the text
 */
export const sentencesOf = (text: string, before = 0): readonly string[] => {
  const sentences: string[] = [];
  let chars = 0;
  for (const { segment } of segmenter.segment(text)) {
    const last = sentences.at(-1);
    // A line break ends a sentence, and white space behind it would be another one.
    if (last !== undefined && segment.trim() === '') sentences[sentences.length - 1] = `${last}${segment}`;
    else if (sentences.length + before >= SENTENCES) return [...sentences, text.slice(chars)];
    else sentences.push(segment);
    chars += segment.length;
  }
  return sentences;
};

/** `sentencesOf`, which finds the sentences of a text once for all who ask for them. */
export const createSentences = (): ((text: string, before: number) => readonly string[]) => {
  const known = new Map<string, readonly string[]>();
  return (text, before) => {
    const key = `${String(before)} ${text}`;
    const sentences = known.get(key) ?? sentencesOf(text, before);
    known.set(key, sentences);
    const [oldest] = known.keys();
    if (known.size > TEXTS && oldest !== undefined) known.delete(oldest);
    return sentences;
  };
};
