import { sha256Hex } from '../../../kernel/crypto/sha256.js';

/** How much of the source's npcId is used, in code points: with its suffix, the copy's id has at most 128. */
const KEPT_POINTS = 114;
const MARK_CHARS = 8;

/** The npcId of a copy: that of its source, and what tells this import from all others. */
export const copyId = (npcId: string, importId: string): string => {
  const kept = Array.from(npcId).slice(0, KEPT_POINTS).join('');
  // Hexadecimal: an id that differs from another only in case is easily mistaken for it.
  const mark = sha256Hex(importId).slice(0, MARK_CHARS);
  return `${kept}-copy-${mark}`;
};
