import { jsonrepair } from 'jsonrepair';
import { isObject, type JsonObject } from '../../shared/json.js';

/** Members by which an object in a model's text is recognised as its answer (contract 2.8). */
const MEMBERS = ['dialogue', 'action', 'stateDelta', 'stateTransform', 'memoryStore', 'memories'];
const mentionsMember = new RegExp(MEMBERS.join('|'));

/** Only the end of a very long text is searched, unless the whole of it is one object. */
const SEARCHED_CHARS = 131_072;
/** How many characters the search may look at in all, so that no text makes it slow. */
const SEARCH_STEPS = 1_000_000;
/** Repairing costs more than reading, in some texts with the square of their length. */
const REPAIRED_CHARS = 16_384;
const REPAIRS = 4;
/** What trying to read one candidate costs beside its length, in steps: a failed reading makes an error. */
const TRIAL_STEPS = 200;

const hasMember = (object: JsonObject): boolean => MEMBERS.some((name) => Object.hasOwn(object, name));

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Repair may find several objects behind each other: then the last with a member counts here too. */
const repair = (text: string): JsonObject | undefined => {
  if (text.length > REPAIRED_CHARS || !mentionsMember.test(text)) return undefined;
  try {
    const repaired: unknown = JSON.parse(jsonrepair(text));
    const objects: readonly unknown[] = Array.isArray(repaired) ? repaired : [repaired];
    return objects.findLast((one): one is JsonObject => isObject(one) && hasMember(one));
  } catch {
    return undefined;
  }
};

/** The index behind the brace that closes the one at `start`; -1 when none does. Braces in quoted text do not count. */
const endOfObject = (text: string, start: number): number => {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      for (at += 1; at < text.length && text.charCodeAt(at) !== 0x22; at += 1) {
        if (text.charCodeAt(at) === 0x5c) at += 1;
      }
    } else if (char === 0x7b) depth += 1;
    else if (char === 0x7d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
};

/** Whether a brace can open an object: a name, a quote or its end follows. */
const opensObject = (text: string, brace: number): boolean => {
  for (let at = brace + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (!/\s/.test(char)) return /["'“‘`}/\p{L}\p{N}_$]/u.test(char);
  }
  return false;
};

/** What an object that is never closed may be: its text to the end, or up to the last brace when only prose follows that. */
const unclosed = (text: string, start: number): readonly string[] => {
  const whole = text.slice(start);
  const last = whole.lastIndexOf('}');
  if (last === -1) return [whole];
  const closed = whole.slice(0, last + 1);
  return /["':{[]/.test(whole.slice(last + 1)) ? [whole, closed] : [closed, whole];
};

const search = (text: string): JsonObject | null => {
  let found: JsonObject | null = null;
  let steps = SEARCH_STEPS;
  let repairs = REPAIRS;
  const repaired = (candidates: readonly string[]): JsonObject | undefined => {
    for (const candidate of candidates) {
      if (repairs === 0) return undefined;
      repairs -= 1;
      const object = repair(candidate);
      if (object !== undefined) return object;
    }
    return undefined;
  };
  let at = text.indexOf('{');
  while (at !== -1 && steps > 0) {
    let next = at + 1;
    if (opensObject(text, at)) {
      const end = endOfObject(text, at);
      const slice = text.slice(at, end === -1 ? undefined : end);
      steps -= slice.length + TRIAL_STEPS;
      const strict = end === -1 ? undefined : parse(slice);
      const object = isObject(strict) ? strict : repaired(end === -1 ? unclosed(text, at) : [slice]);
      if (object !== undefined && hasMember(object)) {
        found = object;
        next = end === -1 ? text.length : end;
      }
    }
    at = text.indexOf('{', next);
  }
  return found;
};

/**
 * The JSON object in which a model answered, anywhere in its text, repaired if broken; of several the last with one of the members
 * (contract 2.8). Null when there is none. Never throws; its time is bounded whatever the text.
 */
export const findObject = (text: string): JsonObject | null => {
  // Most texts are one object or prose; a failed reading costs more than this look.
  const whole = /^\s*\{/.test(text) ? parse(text) : undefined;
  if (isObject(whole) && hasMember(whole)) return whole;
  return search(text.slice(-SEARCHED_CHARS));
};
