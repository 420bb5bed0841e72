import { jcs, type JsonObject } from '../shared/json.js';
import type { NpcDraft } from './events.js';
import type { MindState } from './state.js';

export type Registration = { readonly persona?: string; readonly data?: JsonObject };

const exists = (mind: MindState): boolean => mind.revision >= 0;

/**
 * Registers a mind or updates it: members given replace whole, and what changes nothing records nothing (contract 2.1).
 * Registering an archived mind is an act, and revives it even when nothing else changes.
 */
export const registerNpc = (mind: MindState, { persona, data }: Registration): readonly NpcDraft[] => {
  if (!exists(mind)) {
    const given = { ...(persona === undefined ? {} : { persona }), ...(data === undefined ? {} : { data }) };
    return [{ type: 'NpcRegistered', data: given }];
  }
  const changed = {
    ...(persona === undefined || persona === mind.persona ? {} : { persona }),
    ...(data === undefined || (mind.data !== null && jcs(mind.data) === jcs(data)) ? {} : { data }),
  };
  return Object.keys(changed).length === 0 && !mind.archived ? [] : [{ type: 'NpcUpdated', data: changed }];
};

/** Takes a mind out of lists and recall; its history stays (contract 2.1). */
export const archiveNpc = (mind: MindState): readonly NpcDraft[] =>
  !exists(mind) || mind.archived ? [] : [{ type: 'NpcArchived', data: {} }];
