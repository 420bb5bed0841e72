import type { JsonObject } from '../domain/shared/json.js';
import type { SoulDocument, SoulMemory } from '../domain/soul/document.js';

const itemOfSoul = ({ id, text, type, importance, timestamp, confirmed, cause }: SoulMemory): JsonObject => ({
  id,
  memoryId: id,
  text,
  content: text,
  type,
  importance,
  similarity: 1,
  embedding: [],
  timestamp: Date.parse(timestamp),
  createdAt: timestamp,
  confirmed,
  cause,
});

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
