import { Type } from '@sinclair/typebox';

import { MEMORY_BYTES } from '../../npcs/domain/recorded-bytes.js';
import { TYPES } from '../../../kernel/http/patterns.js';
import { FreeObject, MAX_BYTES, openObject } from '../../../kernel/http/schemas.js';

/** The text of a memory. */
export const MemoryText = Type.String({
  minLength: 1,
  [MAX_BYTES]: MEMORY_BYTES,
  description: `At most ${String(MEMORY_BYTES)} bytes of UTF-8.`,
});

/** The filters of lists and recall. */
export const memoryFilters = {
  type: Type.Optional(
    Type.String({
      maxLength: 2_048,
      pattern: TYPES,
      description: 'Only memories of these types, at most 64, separated by commas.',
    }),
  ),
  minImportance: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

/** A memory in the protocol family, in both vocabularies of deployed clients. */
export const Item = openObject({
  id: Type.String(),
  memoryId: Type.String({ description: 'The same as `id`.' }),
  text: Type.String(),
  content: Type.String({ description: 'The same as `text`.' }),
  type: Type.String(),
  importance: Type.Number({ minimum: 0, maximum: 1 }),
  similarity: Type.Number({ description: '0 to 1; 1 in lists.' }),
  embedding: Type.Array(Type.Number(), { description: 'Always empty.' }),
  timestamp: Type.Integer({ description: 'When it was stored, in milliseconds since the epoch.' }),
  createdAt: Type.String({ format: 'date-time' }),
  confirmed: Type.Boolean({ description: 'Whether a body has confirmed it.' }),
  cause: Type.Object({
    turnId: Type.Union([Type.String(), Type.Null()], { description: 'The turn that it was part of.' }),
    eventId: Type.String({ format: 'uuid', description: 'The event that stored it.' }),
    revision: Type.Integer(),
  }),
  source: Type.Optional(FreeObject),
});

/** A memory in the agent family. */
export const AgentMemory = openObject({
  id: Type.String(),
  text: Type.String(),
  type: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  metadata: FreeObject,
});
