import { wordsOf } from '../../../kernel/base/words.js';
import { ADJECTIVES } from './things.js';
import { isKin, topicsOf } from './words.js';

/** Which words a question turns on, and which of them a text lacks: what speaks of another dog, key or deed is no answer to it. */

/** Nouns that hardly say what is asked for, and words of dear ones who are spoken to. */
const ORDINARY = new Set(
  `man men woman women person people place time times day days night nights morning evening afternoon moment way lot bit story truth reason matter world kind
  sort word words news rumour rumours rumor rumors friend dear lord lady sir idea chance help question answer other others rest first second next end same
  old young good great little big small poor dear beloved precious lost stolen missing own real whole fine nice`.split(
    /\s+/,
  ),
);
/** What is done to learn of something, and other words without which a text may still be the answer. */
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

/** The sentences of a text that ask; the whole when none ends as a question does. */
const questionIn = (text: string): string => {
  const asking = text.split(/(?<=[.!?])\s+/).filter((one) => /\?["'”’)]*$/.test(one));
  return asking.length === 0 ? text : asking.join(' ');
};

const keysIn = (question: string): readonly string[] =>
  [
    ...[...question.matchAll(NOUN)].map(({ groups }) => groups?.['phrase'] ?? ''),
    ...[...question.matchAll(NAME)].map(([name]) => name),
    ...[...question.matchAll(DEED)].map(({ groups }) => groups?.['deed'] ?? ''),
  ]
    .flatMap(wordsOf)
    .filter((word) => !ORDINARY.has(word));

/** Whether a text has what a word means. Of a family only the same one counts, unless the word is for all of it. */
const holds = (text: string, word: string): boolean => {
  if (isKin(word)) return wordsOf(text).some((one) => one === word || `${one}s` === word || one === `${word}s`);
  if (/^names?$/.test(word) && NAME_IN.test(text)) return true;
  const topics = topicsOf(text);
  return [...topicsOf(word)].every((topic) => topics.has(topic));
};
const NAME_IN = /(?<=[\p{L},;] )(?!I\b)\p{Lu}/u;

/** Whether a text has every name and noun that a question turns on, and the deed of "Who stole it?". @param leftOut topics that say nothing here */
export const holdsKeys = (text: string, asked: string, leftOut: ReadonlySet<string>): boolean =>
  keysIn(questionIn(asked)).every((word) => [...topicsOf(word)].every((one) => leftOut.has(one)) || holds(text, word));

/** Whether a text has everything that a question is about, but for words of asking. */
export const holdsAll = (text: string, asked: string, leftOut: ReadonlySet<string>): boolean => {
  const topics = topicsOf(text);
  return [...topicsOf(questionIn(asked))].every(
    (topic) => topics.has(topic) || leftOut.has(topic) || NEEDLESS.has(topic),
  );
};
