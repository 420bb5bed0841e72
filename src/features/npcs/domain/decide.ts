import { jcs, type JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { NpcEvent } from './events.js';
import { DATA_BYTES, dataBytes, dataMayBecome } from './mind-data.js';
import type { MindState } from './state.js';
import { defined } from '../../../kernel/base/defined.js';

/** `rulesetId`: the ruleset to bind the mind to, null to unbind it; absent: unchanged. */
export type Registration = {
  readonly persona?: string;
  readonly data?: JsonObject;
  readonly rulesetId?: string | null;
};

const same = (before: JsonObject | null, data: JsonObject): boolean => before !== null && jcs(before) === jcs(data);

/**
 * Registers or updates a mind. Each member of the request replaces the old value completely, and a request that changes nothing records nothing.
 * Registering an archived mind is an act, so it revives the mind even if nothing else changes. Data beyond DATA_BYTES is refused as DATA_TOO_LARGE,
 * unless it is smaller than before.
 */
export const registerNpc = (
  mind: MindState,
  { persona, data, rulesetId = mind.rulesetId }: Registration,
): readonly NpcEvent[] | Rejection => {
  if (data !== undefined && !dataMayBecome(mind.data ?? {}, data) && !same(mind.data, data)) {
    return new Rejection('DATA_TOO_LARGE', { details: { bytes: dataBytes(data), limitBytes: DATA_BYTES } });
  }
  const bound: readonly NpcEvent[] =
    rulesetId === mind.rulesetId ? [] : [{ type: 'RulesetBound', data: { rulesetId } }];
  if (mind.revision < 0) {
    const given = defined({ persona, data });
    return [{ type: 'NpcRegistered', data: given }, ...bound];
  }
  const changed = {
    ...(persona === undefined || persona === mind.persona ? {} : { persona }),
    ...(data === undefined || same(mind.data, data) ? {} : { data }),
  };
  const isUpdate = Object.keys(changed).length > 0 || (mind.archived && bound.length === 0);
  return [...(isUpdate ? [{ type: 'NpcUpdated', data: changed } as const] : []), ...bound];
};

/** Removes a mind from lists and recall; its history stays. */
export const archiveNpc = (mind: MindState): readonly NpcEvent[] =>
  mind.revision < 0 || mind.archived ? [] : [{ type: 'NpcArchived', data: {} }];
