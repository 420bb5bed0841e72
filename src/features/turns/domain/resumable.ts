import { jsonBytes } from '../../../kernel/base/json.js';
import { INPUT_BYTES } from '../../../kernel/base/input-bytes.js';
import type { Tape } from './tape.js';

/** What an opening holds besides the members of the tape: ids, a deadline, the names of members. In bytes of JSON. */
const BESIDE_BYTES = 2_048;

/**
 * The part of a lost turn's tape that one request can record. A turn's results came one by one, and together may be more than one opening holds.
 * Results that do not fit after the earlier ones are left out, and the resumed turn asks for them again.
 */
export const resumable = (tape: Tape): Tape => {
  const { observation, context, npcState, actor, memories, generatedOutput } = tape;
  const parts = [
    jsonBytes([observation, context, npcState, tape.persona ?? null]) + BESIDE_BYTES,
    actor === undefined ? 0 : jsonBytes(actor),
    tape.vectorQueried ? jsonBytes(memories) : 0,
    generatedOutput === undefined ? 0 : jsonBytes(generatedOutput),
  ] as const;
  const within = (count: number): boolean =>
    parts.slice(0, count).reduce((sum, bytes) => sum + bytes, 0) <= INPUT_BYTES;
  if (within(4)) return tape;
  const { generatedOutput: _output, ...withoutOutput } = tape;
  if (within(3)) return withoutOutput;
  const withoutMemories = { ...withoutOutput, memories: [], vectorQueried: false };
  if (within(2)) return withoutMemories;
  const { actor: _actor, ...opening } = withoutMemories;
  return opening;
};
