import { cutText } from '../../../../kernel/base/text.js';

/** How much is examined, in UTF-16 units: of one text, of all texts of a prompt together, and of what was said (half of it at each end). */
const TEXT_CHARS = 16_000;
const ALL_CHARS = 64_000;
const ABOUT_CHARS = 8_000;
/** How much of a text is converted to find out how many bytes its characters take. */
const SAMPLE_CHARS = 2_000;
/** Shorter words carry little meaning, and longer ones are compared by their beginning: "hidden" and "hiding" remain different, "coin" and "coins" not. */
const LEAST_CHARS = 3;
const STEM_CHARS = 4;
/** What guarding and ellipses add to a memory, in bytes. */
const SPARE_BYTES = 100;
/** A sentence, or several very short ones, or a part of one that is very long. No part of this pattern ever gives back what it took. */
const SENTENCE = /[^]{1,12}[^.!?…。！？\n]{0,200}[.!?…。！？\n]{0,12}/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts without spaces: a run of their letters is compared by pairs. */
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Calls `found` with each part of a text that is compared: beginnings of words, or pairs of letters. */
const eachPart = (text: string, found: (part: string) => void): void => {
  const isSpaceless = SPACELESS.test(text);
  for (const word of text.toLowerCase().match(WORD) ?? []) {
    if (isSpaceless && SPACELESS.test(word))
      for (let at = 1; at < word.length; at += 1) found(word.slice(at - 1, at + 1));
    else if (word.length >= LEAST_CHARS) found(word.slice(0, STEM_CHARS));
  }
};

/** The parts of what was said, numbered. */
type Asked = ReadonlyMap<string, number>;

const askedIn = (about: string): Asked => {
  const half = ABOUT_CHARS / 2;
  const asked = new Map<string, number>();
  const examined = about.length <= ABOUT_CHARS ? about : `${about.slice(0, half)} ${about.slice(-half)}`;
  eachPart(examined, (part) => {
    if (!asked.has(part)) asked.set(part, asked.size);
  });
  return asked;
};

/** Which parts of what was said each sentence has, once each. */
const heldIn = (sentences: readonly string[], asked: Asked): readonly (readonly number[])[] => {
  const lastIn = new Int32Array(asked.size).fill(-1);
  return sentences.map((sentence, at) => {
    const held: number[] = [];
    eachPart(sentence, (part) => {
      const number = asked.get(part);
      if (number === undefined || lastIn[number] === at) return;
      lastIn[number] = at;
      held.push(number);
    });
    return held;
  });
};

/** Where the best window begins and ends among sentences: the one whose words are worth most, and of equal ones the middle. */
const bestAmong = (
  sentences: readonly string[],
  held: readonly (readonly number[])[],
  { chars, parts }: { readonly chars: number; readonly parts: number },
): readonly [number, number] | null => {
  const times = new Int32Array(parts);
  for (const some of held) for (const part of some) times[part] = (times[part] ?? 0) + 1;
  const inWindow = new Int32Array(parts);
  let [from, length, worth] = [0, 0, 0];
  let best: { worth: number; windows: (readonly [number, number])[] } = { worth: 0, windows: [] };
  const change = (at: number, by: 1 | -1): void => {
    length += by * (sentences[at]?.length ?? 0);
    for (const part of held[at] ?? []) {
      const before = inWindow[part] ?? 0;
      inWindow[part] = before + by;
      if (before === 0 || before + by === 0) worth += by / (times[part] ?? 1);
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

/** A text, and at most how many UTF-16 units of it are shown. */
type LongText = { readonly text: string; readonly chars: number };

const excerpt = ({ text, chars }: LongText, examined: number, asked: Asked): string => {
  if (asked.size === 0) return cutText(text, chars);
  const sentences = cutText(text, examined).match(SENTENCE) ?? [];
  const window = bestAmong(sentences, heldIn(sentences, asked), { chars: chars - 2, parts: asked.size });
  if (window === null) return cutText(text, chars);
  const [from, to] = window;
  const kept = sentences.slice(from, to).join('').trim();
  const isEnd = to === sentences.length && text.length <= examined;
  return `${from === 0 ? '' : '…'}${kept}${isEnd || kept.endsWith('…') ? '' : '…'}`;
};

/**
 * Of each text, the part with most of the words of `about`, in whole sentences, or its beginning if it has none of them.
 * `…` marks where something is missing. The texts that are too long share what is examined.
 */
export const excerpts = (texts: readonly LongText[], about: string): readonly string[] => {
  const isLong = ({ text, chars }: LongText): boolean => text.length > chars;
  let among = texts.filter(isLong).length;
  if (among === 0) return texts.map(({ text }) => text);
  const asked = askedIn(about);
  let left = ALL_CHARS;
  return texts.map((one) => {
    if (!isLong(one)) return one.text;
    const examined = Math.min(TEXT_CHARS, Math.floor(left / among));
    left -= Math.min(examined, one.text.length);
    among -= 1;
    return excerpt(one, examined, asked);
  });
};

/** About how many UTF-16 units of a text take this many bytes in a recorded prompt. */
export const charsIn = (text: string, bytes: number): number => {
  const examined = cutText(text, SAMPLE_CHARS);
  const taken = Buffer.byteLength(JSON.stringify(JSON.stringify(examined)));
  // Marks that are split, and the ellipses.
  return Math.floor(((bytes - SPARE_BYTES) * examined.length) / taken);
};
