import { jsonBytes } from '../../../kernel/base/json.js';
import { INPUT_BYTES } from '../../../kernel/base/input-bytes.js';
import type { Tape } from './tape.js';

/** The room in an opening for everything other than the members of the tape: ids, a deadline, the names of members. In bytes of JSON. */
const BESIDE_BYTES = 2_048;

/**
 * The part of a lost turn's tape that one request can record. A turn's results arrived one at a time, and together may exceed one opening. Results
 * that do not fit after the earlier ones are left out, and the resumed turn requests them again.
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
