import { sha256Hex } from '../../domain/shared/sha256.js';

/** Half a digest: enough that no two tags meet. */
const DIGITS = 32;

/** A tag as a word that no text has, because words have no underscore. An index of words then finds by tags as well, whatever stands in them. */
export const tagWord = (tag: string): string => `_${sha256Hex(tag).slice(0, DIGITS)}`;

/** The partition, likewise. No tag has this form by itself: it begins with a character that no tag begins with. */
export const partitionWord = (partition: string): string => tagWord(`\0${partition}`);
