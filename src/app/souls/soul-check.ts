import { Ajv2020 } from 'ajv/dist/2020.js';

import { MEMORY_BYTES } from '../../domain/npc/recorded-bytes.js';
import { isClientId } from '../../domain/shared/client-id.js';
import { isObject } from '../../domain/shared/json.js';
import { MAX_SOUL_MEMORIES, outOfBounds } from '../../domain/soul/bounds.js';
import type { SoulDocument } from '../../domain/soul/document.js';
import { soulSchema } from '../../domain/soul/soul-schema.js';

const ajv = new Ajv2020({ strict: false, logger: false });
ajv.addFormat('client-id', isClientId);
// The pattern beside it is narrower than the format.
ajv.addFormat('date-time', true);
const hasShape = ajv.compile<SoulDocument>(soulSchema);

/** Whether there was such a moment: the schema cannot tell that February has no 31st. Years begin with 1, as elsewhere. */
const isMoment = (time: string): boolean => {
  const at = new Date(time);
  return !Number.isNaN(at.getTime()) && at.toISOString() === time && !time.startsWith('0000');
};

/**
 * Reads parsed JSON as a soul document: its shape and bounds, not its signature.
 * Hostile values cost no more time than values of the largest size that a soul may have, and nothing is computed of them.
 */
export const readSoul = (
  document: unknown,
): { readonly soul: SoulDocument } | { readonly wrong: 'malformed' | 'too_large' } => {
  const memories = isObject(document) ? document['memories'] : undefined;
  if (Array.isArray(memories) && memories.length > MAX_SOUL_MEMORIES) return { wrong: 'too_large' };
  const wrong = outOfBounds(document);
  if (wrong !== null) return { wrong };
  if (!hasShape(document)) return { wrong: 'malformed' };
  const ids = new Set(document.memories.map(({ id }) => id));
  const times = [document.createdAt, ...document.memories.map(({ timestamp }) => timestamp)];
  const isSound =
    times.every(isMoment) &&
    ids.size === document.memories.length &&
    document.memories.every(({ text }) => Buffer.byteLength(text) <= MEMORY_BYTES);
  return isSound ? { soul: document } : { wrong: 'malformed' };
};
