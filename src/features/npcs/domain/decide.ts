import { recordableBytes } from '../../../kernel/base/input-bytes.js';
import { jsonBytes, type JsonObject } from '../../../kernel/base/json.js';
import { isSameJson } from '../../../kernel/base/same-json.js';
import { mergePatch } from '../../../kernel/base/merge-patch.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { NpcEvent } from './events.js';
import { DATA_BYTES, dataBytes, dataMayBecome, FACTS_BYTES, factsMayBecome } from './mind-data.js';
import type { MindState } from './state.js';
import { defined } from '../../../kernel/base/defined.js';

/** `rulesetId`: the ruleset to bind the mind to, null to unbind it; absent: unchanged. */
export type Registration = {
  readonly persona?: string;
  readonly data?: JsonObject;
  readonly rulesetId?: string | null;
  readonly players?: MindState['players'];
};

const tooLarge = (before: JsonObject | null, data: JsonObject): Rejection | null =>
  dataMayBecome(before ?? {}, data)
    ? null
    : new Rejection('DATA_TOO_LARGE', { details: { bytes: dataBytes(data), limitBytes: DATA_BYTES } });

const bind = (mind: MindState, rulesetId: string | null): readonly NpcEvent[] =>
  rulesetId === mind.rulesetId ? [] : [{ type: 'RulesetBound', data: { rulesetId } }];

const playersIn = (mind: MindState, players: MindState['players'] | undefined): Pick<Registration, 'players'> =>
  players === undefined || players === mind.players ? {} : { players };

/**
 * Registers or updates a mind. Each member of the request replaces the old value completely, and a request that changes nothing records nothing.
 * Registering an archived mind is an act, so it revives the mind even if nothing else changes. Data beyond DATA_BYTES is refused as DATA_TOO_LARGE,
 * unless it is smaller than before.
 */
export const registerNpc = (
  mind: MindState,
  { persona, data, rulesetId = mind.rulesetId, players }: Registration,
): readonly NpcEvent[] | Rejection => {
  const isSame = data === undefined || isSameJson(mind.data, data);
  const refused = isSame ? null : tooLarge(mind.data, data);
  if (refused !== null) return refused;
  const bound = bind(mind, rulesetId);
  if (mind.revision < 0) {
    const given = defined({ persona, data, players });
    return [{ type: 'NpcRegistered', data: given }, ...bound];
  }
  const changed = {
    ...(persona === undefined || persona === mind.persona ? {} : { persona }),
    ...(isSame ? {} : { data }),
    ...playersIn(mind, players),
  };
  const isUpdate = Object.keys(changed).length > 0 || (mind.archived && bound.length === 0);
  return [...(isUpdate ? [{ type: 'NpcUpdated', data: changed } as const] : []), ...bound];
};

/** A merge patch (RFC 7396) of what clients set of a mind. `persona`: null sets it to the empty string. `data`: null empties it. */
export type NpcPatch = {
  readonly persona?: string | null;
  readonly data?: JsonObject | null;
  readonly rulesetId?: string | null;
  /** Null sets it to `apart`. */
  readonly players?: MindState['players'] | null;
};

/** The entity tag of what a patch changes: persona, data, players and binding. */
export const npcTag = ({ changedAt }: Pick<MindState, 'changedAt'>): string => `"${String(changedAt)}"`;

/**
 * Changes a mind that exists. A patch that changes nothing records nothing, so an archived mind stays archived. The limits are those of `registerNpc`;
 * they apply to the data that results, because that is recorded.
 * @param expected the tags that a client expects; null if it expects none in particular
 */
export const patchNpc = (
  mind: MindState,
  { persona, data, rulesetId = mind.rulesetId, players }: NpcPatch,
  expected: readonly string[] | null,
): readonly NpcEvent[] | Rejection => {
  const etag = npcTag(mind);
  if (expected?.includes(etag) === false) return new Rejection('PRECONDITION_FAILED', { details: { etag } });
  const before = mind.data ?? {};
  const after = data === null ? {} : mergePatch(before, data ?? {});
  const changed = {
    ...(persona === undefined || (persona ?? '') === mind.persona ? {} : { persona: persona ?? '' }),
    ...(isSameJson(before, after) ? {} : { data: after }),
    ...playersIn(mind, players === null ? 'apart' : players),
  };
  const refused = changed.data === undefined ? null : tooLarge(mind.data, after);
  if (refused !== null) return refused;
  const bytes = recordableBytes([changed.persona ?? null, changed.data ?? null]);
  if (bytes instanceof Rejection) return bytes;
  const updated: readonly NpcEvent[] = Object.keys(changed).length === 0 ? [] : [{ type: 'NpcUpdated', data: changed }];
  return [...updated, ...bind(mind, rulesetId)];
};

const tooManyFacts = (facts: JsonObject): Rejection =>
  new Rejection('FACTS_TOO_LARGE', { details: { bytes: jsonBytes(facts), limitBytes: FACTS_BYTES } });

/** @throws Rejection FACTS_TOO_LARGE for a report that is larger than the facts of a mind may be: each mind that it is about records it */
export const requireReport = (facts: JsonObject): void => {
  if (jsonBytes(facts) > FACTS_BYTES) throw tooManyFacts(facts);
};

/**
 * Records what the game reports of a mind: a merge patch of its facts. A report that changes nothing records nothing. Facts beyond FACTS_BYTES are
 * refused as FACTS_TOO_LARGE, unless they are smaller than before.
 */
export const reportFacts = (mind: MindState, facts: JsonObject): readonly NpcEvent[] | Rejection => {
  const before = mind.facts ?? {};
  const after = mergePatch(before, facts);
  if (isSameJson(before, after)) return [];
  return factsMayBecome(before, after) ? [{ type: 'FactsReported', data: { facts } }] : tooManyFacts(after);
};

/** Removes a mind from lists and recall; its history stays. */
export const archiveNpc = (mind: MindState): readonly NpcEvent[] =>
  mind.revision < 0 || mind.archived ? [] : [{ type: 'NpcArchived', data: {} }];
