import { LRUCache } from 'lru-cache';

import { sha256Hex } from '../../kernel/crypto/sha256.js';

/** Half a digest: enough that no two tags collide. */
const DIGITS = 32;

/** Each passage has a handful, and its neighbours have the same ones. */
const words = new LRUCache<string, string>({ max: 4_096 });
/** Longer ones are not kept: a tag may be as long as an action. */
const TAG_CHARS_KEPT = 256;

/** A tag as a word that no text has, because words have no underscore. An index of words then finds by tags as well, whatever they contain. */
export const tagWord = (tag: string): string => {
  const known = words.get(tag);
  if (known !== undefined) return known;
  const word = `_${sha256Hex(tag).slice(0, DIGITS)}`;
  if (tag.length <= TAG_CHARS_KEPT) words.set(tag, word);
  return word;
};

/** The partition as such a word. No tag has this form: it begins with a character that no tag begins with. */
export const partitionWord = (partition: string): string => tagWord(`\0${partition}`);
