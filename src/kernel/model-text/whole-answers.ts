import { jsonrepair } from 'jsonrepair';

import { isObject, type JsonObject } from '../base/json.js';
import { scanObjects, type ScannedObject } from './scan-objects.js';

/** The members that mark an object in a model's text as its answer; each list has the names of one member. */
const MEMBERS = [['dialogue'], ['action'], ['stateDelta', 'stateTransform'], ['memoryStore', 'memories']] as const;
export const ANSWER_MEMBERS: ReadonlySet<string> = new Set(MEMBERS.flat());

/** How many members of an answer an object has; a member that is null counts for nothing. */
export const answerMembers = (object: JsonObject): number =>
  MEMBERS.filter((names) => names.some((name) => Object.hasOwn(object, name) && (object[name] ?? null) !== null))
    .length;

export const isAnswer = (object: JsonObject): boolean =>
  [...ANSWER_MEMBERS].some((name) => Object.hasOwn(object, name));

export const parseObject = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

/** Repairing costs at least a hundred times as much as looking, so only short objects are repaired. */
export const REPAIRED_CHARS = 4_096;

/** The text of an object up to `end`, with JSON quotes: the repair library takes an apostrophe for the end of a string in single quotes. */
const requoted = (text: string, { start, quotes }: ScannedObject, end: number): string => {
  let written = '';
  let from = start;
  for (let index = 0; index < quotes.length; index += 2) {
    const [open = 0, close = 0] = quotes.slice(index, index + 2);
    if (open < from || close >= end) continue;
    const said = text
      .slice(open + 1, close)
      .replace(/\\[\s\S]|"/g, (part) => (part === '"' ? '\\"' : part === "\\'" ? "'" : part));
    written += `${text.slice(from, open)}"${said}"`;
    from = close + 1;
  }
  return written + text.slice(from, end);
};

/** An object up to `end`, repaired; null if it is too long or beyond repair. */
export const repairObject = (text: string, object: ScannedObject, end: number): JsonObject | null => {
  if (end - object.start > REPAIRED_CHARS) return null;
  try {
    return parseObject(jsonrepair(requoted(text, object, end)));
  } catch {
    return null;
  }
};

/** Whether a text breaks off in the object in which it answers, before any other answer is complete. */
export const isBrokenOff = (text: string): boolean => {
  const start = text.indexOf('{');
  if (start === -1) return false;
  const { found } = scanObjects(text, start, ANSWER_MEMBERS);
  return found[0]?.end === -1 && !found.some(({ answers, end }) => answers && end !== -1);
};

/** How much is looked at to find the answers in one text, and how many objects are parsed and repaired for it. */
export const WHOLE_LOOKS = 600_000;
const LOOKS_PER_OBJECT = 64;
const PARSED = 64;
const REPAIRED = 2;

/** Which parts of a text are within an answer, so that a mark there is a part of what it says. */
export type WholeAnswers = {
  /**
   * The end of the complete answer that contains the position, among those that begin at or after `from`; -1 if there is none. Positions are asked for
   * from left to right.
   * @param broken whether an answer that must be repaired counts as well
   */
  readonly endAround: (from: number, at: number, broken: boolean) => number;
};

export const wholeAnswersIn = (text: string): WholeAnswers => {
  const known = new Map<number, ScannedObject>();
  let looked = 0;
  let parsed = 0;
  let repaired = 0;
  let begun = -1;
  let next = -1;
  const objectAt = (at: number): ScannedObject | undefined => {
    if (!known.has(at) && looked <= WHOLE_LOOKS) {
      const scanned = scanObjects(text, at, ANSWER_MEMBERS);
      looked += scanned.looked + scanned.found.length * LOOKS_PER_OBJECT;
      for (const object of scanned.found) known.set(object.start, object);
    }
    return known.get(at);
  };
  const isWhole = (object: ScannedObject, broken: boolean): boolean => {
    if (parsed >= PARSED) return false;
    parsed += 1;
    looked += object.end - object.start;
    const whole = parseObject(text.slice(object.start, object.end));
    if (whole !== null) return isAnswer(whole);
    if (!broken || repaired >= REPAIRED) return false;
    repaired += 1;
    const mended = repairObject(text, object, object.end);
    return mended !== null && isAnswer(mended);
  };
  return {
    endAround: (from, at, broken) => {
      if (from !== begun) {
        if (begun === -1 || (next !== -1 && next < from)) next = text.indexOf('{', from);
        begun = from;
        // What was read from before this position may have ended in the middle of a string.
        known.clear();
      }
      while (next !== -1 && next < at && looked <= WHOLE_LOOKS) {
        const object = objectAt(next);
        const end = object?.end ?? -1;
        if (end !== -1 && end <= at) next = text.indexOf('{', end);
        else if (object?.answers === true && end !== -1 && isWhole(object, broken)) {
          next = text.indexOf('{', end);
          return end;
        } else next = text.indexOf('{', next + 1);
      }
      return -1;
    },
  };
};
