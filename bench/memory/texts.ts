/** Texts of memories as games make them, no two alike, and vectors as an embedder would make from them. */

const who = ['A stranger', 'The guard', 'Tomas', 'The miller’s wife', 'A child from the harbour', 'The player'];
const did = ['asked about', 'stole', 'paid for', 'lied about', 'brought', 'was looking for', 'would not speak of'];
const what = ['the silver ring', 'a room for three nights', 'the burned mill', 'the ruby necklace', 'the ledger'];
const when = [
  'before sunset',
  'in the rain',
  'while nobody was looking',
  'on the night of the fair',
  'at the north gate',
];

const at = (words: readonly string[], index: number): string => words[index % words.length] ?? '';

/** The text with this number. */
export const memoryText = (index: number): string =>
  `${at(who, index)} ${at(did, index * 7)} ${at(what, index * 3)} ${at(when, index * 11)}, and it was time number ${index}.`;

/** The dimensions of the built-in embedder. */
export const DIMENSIONS = 384;

/** Vectors of unit length in all directions, the same ones for the same seed. How long a comparison takes does not depend on their directions. */
export const randomVectors = (count: number, seed: number): Float32Array => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const numbers = Float32Array.from({ length: count * DIMENSIONS }, next);
  for (let row = 0; row < count; row += 1) {
    const vector = numbers.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS);
    const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
    vector.forEach((number, place) => (vector[place] = number / length));
  }
  return numbers;
};
