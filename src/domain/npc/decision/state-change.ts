import { isObject, type Json, type JsonObject } from '../../shared/json.js';
import { jsonBytes } from '../../shared/json-bytes.js';
import { mergePatch } from '../../shared/merge-patch.js';
import { DATA_BYTES, dataMayBecome } from '../mind-data.js';
import { recordable } from './model-text.js';

/** What a state change may be at most (contract 2.8): levels of nesting, members in all, bytes of JSON. */
export const STATE_CHANGE_DEPTH = 8;
export const STATE_CHANGE_KEYS = 64;
export const STATE_CHANGE_BYTES = 16_384;

type ReadStateChange =
  { readonly ok: true; readonly patch: JsonObject } | { readonly ok: false; readonly problem: string };

type Measure = { keys: number; problem: string | null };

/** Counts members and looks at every value down to the depth that is allowed, and no further. */
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

/** Reads the state change that a model asks for; none is an empty one. `data` is what it would change; it has its own bound. */
export const readStateChange = (value: Json | undefined, data: JsonObject): ReadStateChange => {
  if (value === undefined) return { ok: true, patch: {} };
  if (!isObject(value)) return { ok: false, problem: 'It is no object.' };
  const seen: Measure = { keys: 0, problem: null };
  measure(value, 1, seen);
  if (seen.problem !== null) return { ok: false, problem: seen.problem };
  const patch = recordable(value) as JsonObject;
  if (jsonBytes(patch) > STATE_CHANGE_BYTES) {
    return { ok: false, problem: `It is larger than ${STATE_CHANGE_BYTES} bytes.` };
  }
  return Object.keys(patch).length === 0 || dataMayBecome(data, mergePatch(data, patch))
    ? { ok: true, patch }
    : { ok: false, problem: `It would make the data larger than ${DATA_BYTES} bytes.` };
};
