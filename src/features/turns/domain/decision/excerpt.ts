import { cutText } from '../../../../kernel/base/text.js';
import { wordsOf } from '../../../../kernel/base/words.js';

/** How much of a text is examined, in UTF-16 units. */
const EXAMINED_CHARS = 16_000;
/** The limit of a sentence; a longer one is several. */
const SENTENCE_CHARS = 240;
/** Shorter words carry little meaning, and longer ones are compared by their beginning: "hidden" and "hiding" remain different, "coin" and "coins" not. */
const LEAST_CHARS = 3;
const STEM_CHARS = 4;
/** What guarding and ellipses add to a memory, in bytes. */
const SPARE_BYTES = 100;
const SENTENCE_END = /(?<=[.!?…。！？\n])(?=[^.!?…。！？\n])/u;
/** Scripts without spaces: a run of their letters is compared by pairs. */
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const partsOfWord = (word: string): readonly string[] => {
  const letters = [...word];
  if (SPACELESS.test(word)) return letters.slice(1).map((letter, at) => `${letters[at] ?? ''}${letter}`);
  return letters.length < LEAST_CHARS ? [] : [letters.slice(0, STEM_CHARS).join('')];
};

const partsOf = (text: string): ReadonlySet<string> => new Set(wordsOf(text).flatMap(partsOfWord));

const chunks = (sentence: string): readonly string[] =>
  sentence.length <= SENTENCE_CHARS ? [sentence] : (sentence.match(/[^]{1,120}/gu) ?? []);

/** Where the best window begins and ends among sentences: the one whose words are worth most, and of equal ones the middle. */
const bestAmong = (
  sentences: readonly string[],
  held: readonly (readonly string[])[],
  chars: number,
): readonly [number, number] | null => {
  const times = new Map<string, number>();
  for (const part of held.flat()) times.set(part, (times.get(part) ?? 0) + 1);
  const inWindow = new Map<string, number>();
  let [from, length, worth] = [0, 0, 0];
  let best: { worth: number; windows: (readonly [number, number])[] } = { worth: 0, windows: [] };
  const change = (at: number, by: 1 | -1): void => {
    length += by * (sentences[at]?.length ?? 0);
    for (const part of held[at] ?? []) {
      const before = inWindow.get(part) ?? 0;
      inWindow.set(part, before + by);
      if (before === 0 || before + by === 0) worth += by / (times.get(part) ?? 1);
    }
  };
  for (let to = 0; to < sentences.length; to += 1) {
    change(to, 1);
    for (; length > chars; from += 1) change(from, -1);
    const rounded = Math.round(worth * 1e6);
    if (rounded > best.worth) best = { worth: rounded, windows: [] };
    if (rounded === best.worth) best.windows.push([from, to + 1]);
  }
  return best.worth === 0 ? null : (best.windows[Math.floor(best.windows.length / 2)] ?? null);
};

/**
 * At most `chars` UTF-16 units of a text: the part with most of the words of `about`, in whole sentences, or its beginning if it has none of them.
 * `…` marks where something is missing.
 */
export const excerpt = (text: string, chars: number, about: string): string => {
  if (text.length <= chars) return text;
  const asked = partsOf(cutText(about, EXAMINED_CHARS));
  const sentences = cutText(text, EXAMINED_CHARS).split(SENTENCE_END).flatMap(chunks);
  const held = sentences.map((sentence) => [...partsOf(sentence)].filter((part) => asked.has(part)));
  const window = bestAmong(sentences, held, chars - 2);
  if (window === null) return cutText(text, chars);
  const [from, to] = window;
  const kept = sentences.slice(from, to).join('').trim();
  const isEnd = to === sentences.length && text.length <= EXAMINED_CHARS;
  return `${from === 0 ? '' : '…'}${kept}${isEnd || kept.endsWith('…') ? '' : '…'}`;
};

/** About how many UTF-16 units of a text take this many bytes in a recorded prompt. */
export const charsIn = (text: string, bytes: number): number => {
  const examined = cutText(text, EXAMINED_CHARS);
  const taken = Buffer.byteLength(JSON.stringify(JSON.stringify(examined)));
  // Marks that are split, and the ellipses.
  return Math.floor(((bytes - SPARE_BYTES) * examined.length) / taken);
};
