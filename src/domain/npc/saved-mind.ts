import { isObject, type Json } from '../shared/json.js';
import type { OpenTurns } from './open-turns.js';
import type { MindState } from './state.js';

/**
 * A mind's state that was saved as JSON; null when the JSON is no such state, for example in a damaged file. It does not show whether it is the state
 * of the right mind at the right moment.
 */
export const savedMind = (saved: Json): MindState | null => {
  if (!isObject(saved)) return null;
  const { persona, data, archived, revision, updatedAt, openTurns } = saved;
  if ((persona !== null && typeof persona !== 'string') || (data !== null && !isObject(data))) return null;
  if (typeof archived !== 'boolean' || typeof revision !== 'number' || typeof updatedAt !== 'string') return null;
  return areOpenTurns(openTurns) ? { persona, data, archived, revision, updatedAt, openTurns } : null;
};

const areOpenTurns = (saved: unknown): saved is OpenTurns =>
  isObject(saved) &&
  Array.isArray(saved['list']) &&
  saved['list'].every((turnId) => typeof turnId === 'string') &&
  Array.isArray(saved['changes']) &&
  saved['changes'].every(
    (change) => isObject(change) && typeof change['turnId'] === 'string' && typeof change['open'] === 'boolean',
  );
