// Splits a text into pieces as SentencePiece does with a unigram model: of all ways to do it, the one with the highest sum of scores. Plain JavaScript,
// as run-model.mjs is.

const UNKNOWN = 0;
const BEGIN = 1;
const END = 2;
/** What an unknown character costs more than the worst piece. */
const UNKNOWN_COST = 10;

/** What the model reads as a space besides spaces, and the mark for a space in pieces. */
const SPACES = /[\s\u200b\u200e\u200f\u2581]+/g;

/** The full-width tilde, which Japanese texts have often, has its own piece. */
const TILDE = '～';

/** The text as pieces spell it: in compatibility form, with a mark for each space, also at the beginning. Empty if there is nothing but spaces. */
const spelled = (text) => {
  const parts = text.toWellFormed().split(TILDE);
  const form = parts
    .map((part) => part.normalize('NFKC'))
    .join(TILDE)
    .replace(SPACES, ' ')
    .trim();
  return form === '' ? '' : `▁${form.replaceAll(' ', '▁')}`;
};

/**
 * @param {readonly string[]} pieces
 * @param {Float32Array} scores
 * @returns {(text: string) => readonly number[]} the numbers of a text's pieces, between those of its begin and its end
 */
export const createTokenizer = (pieces, scores) => {
  const numbers = new Map(pieces.map((piece, number) => [piece, number]));
  const longest = pieces.reduce((most, piece) => Math.max(most, [...piece].length), 0);
  const unknownScore = scores.reduce((least, score) => Math.min(least, score), 0) - UNKNOWN_COST;

  return (text) => {
    const characters = [...spelled(text)];
    if (characters.length === 0) return [BEGIN, UNKNOWN, END];
    // The best way to each place: its score, and its last piece with the place where it begins.
    const best = new Float64Array(characters.length + 1).fill(-Infinity);
    const starts = new Int32Array(characters.length + 1);
    const last = new Int32Array(characters.length + 1);
    best[0] = 0;
    const offer = (start, end, number, score) => {
      if (best[start] + score <= best[end]) return;
      best[end] = best[start] + score;
      starts[end] = start;
      last[end] = number;
    };
    for (let start = 0; start < characters.length; start += 1) {
      const most = Math.min(characters.length, start + longest);
      let piece = '';
      for (let end = start + 1; end <= most; end += 1) {
        piece += characters[end - 1];
        const number = numbers.get(piece);
        if (number !== undefined) offer(start, end, number, scores[number]);
        else if (end === start + 1) offer(start, end, UNKNOWN, unknownScore);
      }
    }
    const found = [END];
    for (let end = characters.length; end > 0; end = starts[end]) found.push(last[end]);
    return [...found, BEGIN].reverse();
  };
};
