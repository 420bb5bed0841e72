import { Ajv2020 } from 'ajv/dist/2020.js';

import type { Sliced } from '../../kernel/base/sliced.js';
import { MEMORY_BYTES } from '../npcs/domain/recorded-bytes.js';
import { isClientId } from '../../kernel/base/client-id.js';
import { isObject } from '../../kernel/base/json.js';
import {
  leastSize,
  MAX_PART_BYTES,
  MAX_SOUL_BYTES,
  MAX_SOUL_CONTAINERS,
  MAX_SOUL_MEMORIES,
  MAX_SOUL_VALUES,
  type OutOfBounds,
  type PartSize,
} from './domain/bounds.js';
import type { SoulDocument, SoulMemory } from './domain/document.js';
import { soulMemorySchema, soulSchema } from './domain/soul-schema.js';

const compileShapes = () => {
  const ajv = new Ajv2020({ strict: false, logger: false });
  ajv.addFormat('client-id', isClientId);
  // The pattern next to it is stricter than the format.
  ajv.addFormat('date-time', true);
  return { hasShape: ajv.compile<SoulDocument>(soulSchema), isMemory: ajv.compile<SoulMemory>(soulMemorySchema) };
};
let compiled: ReturnType<typeof compileShapes> | null = null;
/** Compiled for the first soul: it took a tenth of the start of every command. */
const shapes = () => (compiled ??= compileShapes());

/** Whether such a moment exists: the schema cannot express that February has no 31st. Years begin with 1, as elsewhere. */
const isMoment = (time: string): boolean => {
  const at = new Date(time);
  return !Number.isNaN(at.getTime()) && at.toISOString() === time && !time.startsWith('0000');
};

/** How many lists and objects contain a memory. */
const MEMORY_DEPTH = 2;
/** How many bytes of memories are looked at before other work runs, each memory counting as MEMORY_WORK more: one or two milliseconds of work. */
const SLICE_BYTES = 65_536;
const MEMORY_WORK = 256;

type Wrong = { readonly wrong: OutOfBounds };
const malformed: Wrong = { wrong: 'malformed' };
const tooLarge: Wrong = { wrong: 'too_large' };

/** Checks bounds and shape of a document without its memories: everything except the two strings whose length the schema limits. */
function* wrongHead(document: unknown): Sliced<Wrong | PartSize> {
  const isList = isObject(document) && Array.isArray(document['memories']);
  const { memories: _, trainingProof: __, signature: ___, ...head } = isObject(document) ? document : {};
  const size = yield* leastSize(isObject(document) ? head : document, 0, MAX_PART_BYTES);
  if (typeof size === 'string') return { wrong: size };
  return shapes().hasShape(isList ? { ...document, memories: [] } : document) ? size : malformed;
}

const isSound = ({ timestamp, text }: SoulMemory): boolean =>
  isMoment(timestamp) && Buffer.byteLength(text) <= MEMORY_BYTES;

const sumOf = (one: PartSize, other: PartSize): PartSize => ({
  bytes: one.bytes + other.bytes,
  containers: one.containers + other.containers,
  values: one.values + other.values,
});

const isBeyondSouls = ({ bytes, containers, values }: PartSize): boolean =>
  bytes > MAX_SOUL_BYTES || containers > MAX_SOUL_CONTAINERS || values > MAX_SOUL_VALUES;

/** The problem in the memories of a soul whose other parts have this size. */
function* wrongMemories(memories: readonly unknown[], head: PartSize): Sliced<Wrong | null> {
  const ids = new Set<string>();
  let whole = head;
  let unpaused = 0;
  for (const memory of memories) {
    const size = yield* leastSize(memory, MEMORY_DEPTH, MAX_PART_BYTES);
    if (typeof size === 'string') return { wrong: size };
    whole = sumOf(whole, size);
    if (isBeyondSouls(whole)) return tooLarge;
    if (!shapes().isMemory(memory) || !isSound(memory) || ids.has(memory.id)) return malformed;
    ids.add(memory.id);
    unpaused += size.bytes + MEMORY_WORK;
    if (unpaused < SLICE_BYTES) continue;
    yield unpaused;
    unpaused = 0;
  }
  return null;
}

/**
 * Reads parsed JSON as a soul document: its shape and bounds, not its signature. A part that is too large is refused before anything is computed from
 * it. Hostile values cost no more time than values of the largest size that a soul may have. It yields whenever the driver may pause.
 */
export function* readSoul(document: unknown): Sliced<{ readonly soul: SoulDocument } | Wrong> {
  const memories = isObject(document) ? document['memories'] : undefined;
  if (Array.isArray(memories) && memories.length > MAX_SOUL_MEMORIES) return tooLarge;
  const head = yield* wrongHead(document);
  if ('wrong' in head) return head;
  const soul = document as SoulDocument;
  return isMoment(soul.createdAt) ? ((yield* wrongMemories(soul.memories, head)) ?? { soul }) : malformed;
}
