import { type ChangeBreak, judgeChange } from '../../../rules/domain/state-rules/judge-change.js';
import type { BridgeRefusal } from '../../../rules/domain/bridge/refusal.js';
import type { StateRule } from '../../../rules/domain/state-rules/state-rule.js';
import { firstFitting, isObject, type Json, jsonBytes, type JsonObject } from '../../../../kernel/base/json.js';
import { mergePatch } from '../../../../kernel/base/merge-patch.js';
import { cutJsonText } from '../../../../kernel/base/text.js';
import type { VerdictGrounds } from '../../../npcs/domain/events.js';
import { DATA_BYTES, dataMayBecome } from '../../../npcs/domain/mind-data.js';
import { STATE_BREAKS_BYTES } from '../../../npcs/domain/recorded-bytes.js';
import type { DecisionInput } from './input.js';
import { type CleanText, recordable } from './model-output.js';

/** The limits of a state change: levels of nesting, total members, bytes of JSON. */
const STATE_CHANGE_DEPTH = 8;
const STATE_CHANGE_KEYS = 64;
export const STATE_CHANGE_BYTES = 16_384;

type ReadStateChange =
  { readonly ok: true; readonly patch: JsonObject } | { readonly ok: false; readonly problem: string };

type Measure = { keys: number; problem: string | null };

/** Counts members and visits every value down to the allowed depth, and no further. */
const measure = (value: Json, depth: number, seen: Measure): void => {
  if (typeof value === 'number' && !Number.isFinite(value))
    seen.problem = 'It holds a number that JSON has no form for.';
  if (typeof value !== 'object' || value === null || seen.problem !== null) return;
  if (depth > STATE_CHANGE_DEPTH) {
    seen.problem = `It is nested deeper than ${STATE_CHANGE_DEPTH} levels.`;
    return;
  }
  if (isObject(value)) {
    seen.keys += Object.keys(value).length;
    if (seen.keys > STATE_CHANGE_KEYS) {
      seen.problem = `It has more than ${STATE_CHANGE_KEYS} keys.`;
      return;
    }
  }
  for (const member of Object.values<Json>(value)) measure(member, depth + 1, seen);
};

/** Reads the state change that a model requests; no change is an empty one. `data` is what it would change; it has its own limit. */
const readStateChange = (value: Json | undefined, data: JsonObject, clean: CleanText): ReadStateChange => {
  if (value === undefined) return { ok: true, patch: {} };
  if (!isObject(value)) return { ok: false, problem: 'It is no object.' };
  const seen: Measure = { keys: 0, problem: null };
  measure(value, 1, seen);
  if (seen.problem !== null) return { ok: false, problem: seen.problem };
  const patch = recordable(value, clean) as JsonObject;
  if (jsonBytes(patch) > STATE_CHANGE_BYTES) {
    return { ok: false, problem: `It is larger than ${STATE_CHANGE_BYTES} bytes.` };
  }
  return Object.keys(patch).length === 0 || dataMayBecome(data, mergePatch(data, patch))
    ? { ok: true, patch }
    : { ok: false, problem: `It would make the data larger than ${DATA_BYTES} bytes.` };
};

const NO_STATE_RULES: readonly StateRule[] = [];

/** A state change as the model asks for it, and the part of it that the state rules accept. */
export type AcceptedChange = { readonly asked: JsonObject; readonly patch: JsonObject };

export type WeighedChange = AcceptedChange & {
  readonly problem: string | null;
  readonly breaks: readonly ChangeBreak[];
};

/** Reads the requested change, and in grammar 2 judges it by the state rules. */
export const weighStateChange = ({ ruleset, data, texts }: DecisionInput, change: Json | undefined): WeighedChange => {
  const read = readStateChange(change, data, texts.clean);
  if (!read.ok) return { asked: {}, patch: {}, problem: read.problem, breaks: [] };
  const asked = read.patch;
  if (ruleset?.grammar !== 2) return { asked, patch: asked, problem: null, breaks: [] };
  return { asked, problem: null, ...judgeChange(ruleset.ruleState ?? NO_STATE_RULES, data, asked) };
};

/** How much of a path is recorded, in bytes of JSON. */
const PATH_BYTES = 256;

/** The broken state rules as a verdict records them. */
export const recordedBreaks = (breaks: readonly ChangeBreak[]): Pick<VerdictGrounds, 'stateBreaks'> =>
  breaks.length === 0
    ? {}
    : {
        stateBreaks: firstFitting(
          breaks.map((one) => ({ ...one, path: cutJsonText(one.path, PATH_BYTES) })),
          STATE_BREAKS_BYTES,
        ),
      };

/** Why a change is refused as a whole; null if it is not. */
export const changeRefused = ({ problem, breaks }: WeighedChange): BridgeRefusal | null => {
  if (problem !== null)
    return { code: 'STATE_CHANGE_INVALID', reason: `The state change cannot be taken. ${problem}`, details: {} };
  const refused = breaks.find(({ onBreak }) => onBreak === 'refuse');
  if (refused === undefined) return null;
  const path = cutJsonText(refused.path, PATH_BYTES);
  return {
    code: 'STATE_CHANGE_INVALID',
    reason: `The state change of ${path} is not allowed. ${refused.reason}`,
    details: { path, reason: refused.reason },
  };
};
