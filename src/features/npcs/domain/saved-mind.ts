import { isObject, type Json } from '../../../kernel/base/json.js';
import type { OpenTurns } from './open-turns.js';
import type { HeldCard, MindState, Origin } from './state.js';
import { isPackedMemory, type StoredMemories } from './stored-memories.js';

/**
 * A mind's state that was saved as JSON after its event at `revision`; null if the JSON is not such a state, or has another revision, for example in
 * a damaged file. It cannot detect the state of a different mind.
 */
export const savedMind = (saved: Json, revision: number): MindState | null => {
  if (!isObject(saved) || saved['revision'] !== revision) return null;
  const {
    persona,
    data,
    facts,
    archived,
    rulesetId,
    players,
    origin,
    changedAt,
    updatedAt,
    openTurns,
    memories,
    card,
  } = saved;
  if ((persona !== null && typeof persona !== 'string') || (data !== null && !isObject(data))) return null;
  // An older server's state has no binding, although the mind may be bound.
  if (rulesetId !== null && typeof rulesetId !== 'string') return null;
  if (players !== 'apart' && players !== 'shared') return null;
  if (facts !== null && !isObject(facts)) return null;
  if (typeof archived !== 'boolean' || typeof changedAt !== 'number' || typeof updatedAt !== 'string') return null;
  if (!areOpenTurns(openTurns) || !areMemories(memories) || !isOrigin(origin)) return null;
  if (!isHeldCard(card)) return null;
  return {
    persona,
    data,
    facts,
    archived,
    rulesetId,
    players,
    origin,
    changedAt,
    revision,
    updatedAt,
    openTurns,
    memories,
    card,
  };
};

const isOrigin = (saved: unknown): saved is Origin | null =>
  saved === null ||
  (isObject(saved) &&
    typeof saved['importId'] === 'string' &&
    typeof saved['stored'] === 'number' &&
    typeof saved['arrivedAt'] === 'number');

const areOpenTurns = (saved: unknown): saved is OpenTurns =>
  isObject(saved) &&
  Array.isArray(saved['list']) &&
  saved['list'].every((turnId) => typeof turnId === 'string') &&
  Array.isArray(saved['changes']) &&
  saved['changes'].every(
    (change) => isObject(change) && typeof change['turnId'] === 'string' && typeof change['open'] === 'boolean',
  );

const isHeldCard = (saved: unknown): saved is HeldCard | null =>
  saved === null || (isObject(saved) && typeof saved['digest'] === 'string' && typeof saved['revision'] === 'number');

const isPacked = (value: unknown): boolean => typeof value === 'string' && isPackedMemory(value);

const areMemories = (saved: unknown): saved is StoredMemories =>
  isObject(saved) &&
  ['count', 'retracted', 'clearedAt', 'retractedAt', 'confirmedAt'].every((name) => typeof saved[name] === 'number') &&
  Array.isArray(saved['list']) &&
  saved['list'].every(isPacked) &&
  Array.isArray(saved['changes']) &&
  saved['changes'].every(
    (change) => isObject(change) && (isPacked(change['stored']) || typeof change['confirmed'] === 'string'),
  );
