import type { JsonObject } from '../domain/shared/json.js';
import { itemOf } from './memory-item.js';
import type { SoulDocument, SoulMemory } from '../domain/soul/document.js';

const itemOfSoul = ({ id, timestamp, confirmed, cause, ...memory }: SoulMemory) =>
  itemOf(
    {
      ...memory,
      kind: 'memory',
      memoryId: id,
      at: timestamp,
      ...cause,
      confirmedAt: confirmed ? cause.revision : null,
      stream: '',
    },
    { similarity: 1 },
  );

/** A soul as the protocol family shows it (contract 8.2). */
export const protocolSoul = ({ id, version, name, persona, signature, state, memories }: SoulDocument): JsonObject => ({
  id,
  version,
  name,
  persona,
  signature,
  state: state,
  memories: memories.map(itemOfSoul),
});
