import { Type } from '@sinclair/typebox';

import type { JsonObject } from '../../kernel/base/json.js';
import { MEMORY_BYTES } from '../npcs/domain/recorded-bytes.js';
import { TYPES } from '../../kernel/http/patterns.js';
import { named } from '../../kernel/http/named.js';
import { FreeObject, MAX_BYTES } from '../../kernel/http/schemas.js';
import { SpeakerSchema } from '../turns/body-schemas.js';

/** The text of a memory. */
export const MemoryText = Type.String({
  minLength: 1,
  [MAX_BYTES]: MEMORY_BYTES,
  description: `At most ${String(MEMORY_BYTES)} bytes of UTF-8.`,
});

/** The filters of lists and of recall. */
export const memoryFilters = {
  type: Type.Optional(
    Type.String({
      maxLength: 2_048,
      pattern: TYPES,
      description: 'Only memories of these types: up to 64, separated by commas.',
    }),
  ),
  minImportance: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Only memories with at least this importance.' }),
  ),
};

const MemoryCause = named(
  'MemoryCause',
  Type.Object({
    turnId: Type.Union([Type.String(), Type.Null()], { description: 'The turn in which it was stored.' }),
    eventId: Type.String({ format: 'uuid', description: 'The event that stored it.' }),
    revision: Type.Integer(),
  }),
);
const MemorySource = named(
  'MemorySource',
  Type.Object({
    soulId: Type.String(),
    turnId: Type.Union([Type.String(), Type.Null()]),
    eventId: Type.String({ description: 'The event that stored it, on the server that exported the soul.' }),
    revision: Type.Integer(),
  }),
);

/** A memory in the protocol family, in both vocabularies of deployed clients. */
export const MemoryItem = named(
  'MemoryItem',
  Type.Object({
    id: Type.String(),
    memoryId: Type.String({ description: 'The same as `id`.' }),
    text: Type.String(),
    content: Type.String({ description: 'The same as `text`.' }),
    type: Type.String({ description: 'Such as `observation` or `knowledge`.' }),
    importance: Type.Number({ minimum: 0, maximum: 1 }),
    similarity: Type.Number({ description: 'From 0 to 1; always 1 in lists.' }),
    embedding: Type.Array(Type.Number(), { description: 'Always empty.' }),
    timestamp: Type.Integer({ description: 'When it was stored, in milliseconds since 1970.' }),
    createdAt: Type.String({ format: 'date-time' }),
    confirmed: Type.Boolean({ description: 'Whether a body has confirmed it.' }),
    cause: MemoryCause,
    source: Type.Optional(
      Type.Unsafe<JsonObject>({ ...MemorySource, description: 'Only if it was imported with a soul.' }),
    ),
    player: Type.Optional(SpeakerSchema),
  }),
);
export const MemoryList = named('MemoryList', Type.Array(MemoryItem));

/** A memory in the agent family. */
export const AgentMemory = named(
  'AgentMemory',
  Type.Object({
    id: Type.String(),
    text: Type.String(),
    type: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
    metadata: FreeObject,
  }),
);
