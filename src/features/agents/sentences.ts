const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });

/** The sentences of a text, each with the white space behind it: together they are the text (Unicode UAX 29). */
export const sentencesOf = (text: string): readonly string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment);
