import { wordsOf } from '../../../kernel/base/words.js';
import { ADJECTIVES } from './things.js';
import { type Language, languageOf } from './language.js';
import { covers, isKin, topicsOf } from './words.js';

/** Finds the key words of a question, and those that a text lacks: a text about another dog, key or deed does not answer it. */

/** Nouns that hardly show the subject of a question, and terms of endearment for the listener. */
const ORDINARY = new Set(
  `man men woman women person people place time times day days night nights morning evening afternoon moment way lot bit story truth reason matter world kind
  sort word words news rumour rumours rumor rumors friend dear lord lady sir idea chance help question answer other others rest first second next end same
  old young good great little big small poor dear beloved precious lost stolen missing own real whole fine nice`.split(
    /\s+/,
  ),
);
/** Verbs of finding out, and other words without which a text may still be the answer. */
const NEEDLESS = topicsOf(
  `find found look looking search put keep kept lie stay stand see seen mean exactly really actually today ${[...ORDINARY].join(' ')}`,
);

const NOUN = new RegExp(
  `\\b(?:my|your|his|her|their|our|the|an?|any|this|these|those) (?<phrase>(?:(?:${ADJECTIVES}) )*[\\p{L}-]+(?:'s? [\\p{L}-]+)?)`,
  'giu',
);
/** A name: with a capital, and not at the beginning. */
const NAME = /(?<=[\p{L},;] )\p{Lu}[\p{L}-]+/gu;
const DEED = /\bwho(?: (?:has|had|have|really|ever|also))* (?<deed>[a-z]+)\b/gi;

/** The questions in a text; the complete text if no sentence ends as a question does. */
const questionIn = (text: string): string => {
  const asking = text.split(/(?<=[.!?])\s+/).filter((one) => /\?["'”’)]*$/.test(one));
  return asking.length === 0 ? text : asking.join(' ');
};

const keysIn = (question: string): ReadonlySet<string> => {
  const found = [
    ...[...question.matchAll(NOUN)].map(({ groups }) => groups?.['phrase'] ?? ''),
    ...[...question.matchAll(NAME)].map(([name]) => name),
    ...[...question.matchAll(DEED)].map(({ groups }) => groups?.['deed'] ?? ''),
    ...wordsOf(question).filter(isKin),
  ];
  return new Set([...new Set(found)].flatMap(wordsOf).filter((word) => !ORDINARY.has(word)));
};

/** Whether a text has the meaning of a word. A word of family matches only those whom it covers. */
const holds = (read: Read, word: string, language: Language): boolean => {
  if (isKin(word)) return read.words.some((one) => covers(word, one));
  if (/^names?$/.test(word) && NAME_IN.test(read.text)) return true;
  return [...topicsOf(word, language)].every((topic) => read.topics.has(topic));
};
/** A text whose words are found once, however many are looked for. */
type Read = { readonly text: string; readonly words: readonly string[]; readonly topics: ReadonlySet<string> };
const NAME_IN = /(?<=[\p{L},;] )(?!I\b)\p{Lu}/u;

/**
 * Whether a text has every name and noun that a question turns on, and the deed of "Who stole it?". @param leftOut topics that carry no meaning here
 */
export const holdsKeys = (text: string, asked: string, leftOut: ReadonlySet<string>): boolean => {
  const language = languageOf(asked);
  const read = { text, words: wordsOf(text), topics: topicsOf(text) };
  return [...keysIn(questionIn(asked))].every(
    (word) => [...topicsOf(word, language)].every((one) => leftOut.has(one)) || holds(read, word, language),
  );
};

/** Whether a text has everything that a question is about, except words of asking. */
export const holdsAll = (text: string, asked: string, leftOut: ReadonlySet<string>): boolean => {
  const topics = topicsOf(text);
  return [...topicsOf(questionIn(asked), languageOf(asked))].every(
    (topic) => topics.has(topic) || leftOut.has(topic) || NEEDLESS.has(topic),
  );
};
