import { sha256Hex } from '../../../kernel/crypto/sha256.js';

/** How much of the source's npcId is used, in code points: with its suffix, the copy's id has at most 128. */
const KEPT_POINTS = 114;
const MARK_CHARS = 8;

/** The npcId of a copy: the source's, with a suffix that identifies this import. */
export const copyId = (npcId: string, importId: string): string => {
  const kept = Array.from(npcId).slice(0, KEPT_POINTS).join('');
  // Hexadecimal: ids that differ only in case are easily confused.
  const mark = sha256Hex(importId).slice(0, MARK_CHARS);
  return `${kept}-copy-${mark}`;
};
