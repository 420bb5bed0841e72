import { Type } from '@sinclair/typebox';

import type { RecalledMemory } from '../domain/npc/events.js';
import type { MemoryRow } from '../../projections/memories.js';
import { defined } from '../domain/shared/defined.js';
import { TYPES } from './patterns.js';
import { FreeObject, openObject } from './schemas.js';

/** What lists and recall of memories may be limited to (contract 3.1, 3.3). */
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

/** A memory in the protocol family (contract 3.1), in both vocabularies of deployed clients. */
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

/** A memory in the agent family (contract 3.5). */
export const AgentMemory = openObject({
  id: Type.String(),
  text: Type.String(),
  type: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  metadata: FreeObject,
});

/** @param asOf the revision as of which the memory is seen: `confirmed` is what it was then */
export const itemOf = (
  { memoryId, text, type, importance, at, turnId, eventId, revision, confirmedAt, source }: MemoryRow,
  { similarity, asOf = Infinity }: { readonly similarity: number; readonly asOf?: number | undefined },
) => ({
  id: memoryId,
  memoryId,
  text,
  content: text,
  type,
  importance,
  similarity,
  embedding: [] as readonly number[],
  timestamp: Date.parse(at),
  createdAt: at,
  confirmed: confirmedAt !== null && confirmedAt <= asOf,
  cause: { turnId, eventId, revision },
  ...defined({ source }),
});

/** A memory that a client says it recalled, the one at a place of its report (contract 3.3). This server may know nothing else of it. */
export const reportedItem = (
  { text, type, importance, similarity }: RecalledMemory,
  {
    id: eventId,
    revision,
    meta,
  }: { readonly id: string; readonly revision: number; readonly meta: { readonly at: string } },
  place: number,
) => {
  const memoryId = `${eventId}-${String(place)}`;
  const cause = { turnId: null, eventId, revision, at: meta.at, confirmedAt: null };
  return itemOf({ kind: 'memory', memoryId, text, type, importance, ...cause, stream: '' }, { similarity });
};

export const agentMemoryOf = ({ memoryId, text, type, at, metadata = {} }: MemoryRow) => ({
  id: memoryId,
  text,
  type,
  timestamp: at,
  metadata,
});
