import { type Json, jsonBytes } from '../../../../kernel/base/json.js';
import { cutJsonText, cutText } from '../../../../kernel/base/text.js';
import type { TextRules } from './text-rules.js';

/**
 * How much of a persona, a state or a context goes into a prompt, in bytes of the JSON that records it. A model reads a few pages, and records have a
 * limit (src/features/npcs/domain/recorded-bytes.ts).
 */
export const PART_BYTES = 10_000;
/** How often a value is shortened because guarding has added spaces; one that is full of marks may then be cut anywhere. */
const GUARD_TRIES = 4;

/** External text in quotes: one line, truncated to a limit, with nothing in it that ends a message. */
export const quotedText = (text: string, bytes: number, guard: TextRules['guard']): string =>
  JSON.stringify(cutJsonText(guard(cutText(text, bytes)), bytes, 4));

/** External JSON, which has its own quotes. If guarding makes it too long, it is shortened again, unless it can only be cut. */
export const quotedJson = (value: Json, { guard, members }: Pick<TextRules, 'guard' | 'members'>): string => {
  let text = '';
  let shown: Json | undefined;
  for (let room = PART_BYTES, tries = 0; tries < GUARD_TRIES; tries += 1) {
    const before = shown;
    shown = members(value, room);
    if (shown !== before) text = guard(cutText(JSON.stringify(shown), PART_BYTES));
    const over = jsonBytes(text) - 2 - PART_BYTES;
    if (over <= 0) break;
    room -= over;
  }
  return cutJsonText(text, PART_BYTES);
};
