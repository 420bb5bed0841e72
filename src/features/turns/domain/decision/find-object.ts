import type { JsonObject } from '../../../../kernel/base/json.js';
import { scanObjects, type ScannedObject } from '../../../../kernel/model-text/scan-objects.js';
import {
  ANSWER_MEMBERS,
  answerMembers,
  isAnswer,
  parseObject,
  repairObject,
} from '../../../../kernel/model-text/whole-answers.js';

/**
 * How much of a text is searched from its beginning, and how much from its end, in characters and in opening braces. An answer is a few thousand
 * characters, surrounded by prose of any length. Longer texts are read only as one valid object.
 */
export const SEARCHED_CHARS = 65_536;
export const SEARCHED_BRACES = 4_096;
/**
 * How much a search may look at in total: characters, and objects, each of which costs as much as this many characters. This is enough to read both
 * ends of the longest text once and parts of it again. The last reading may begin just below the bound.
 */
export const LOOKS = 1_000_000;
export const LOOKS_PER_OBJECT = 64;
/** How many answers are parsed to find a complete one. A failed parse makes an error, which costs as much as about a thousand looks. */
const TRIALS = 64;
/** The complete members of an object in which the text breaks off. */
const beginning = (text: string, object: ScannedObject): JsonObject => {
  const { start, complete } = object;
  if (complete === -1) return {};
  return parseObject(`${text.slice(start, complete)}}`) ?? repairObject(text, object, complete) ?? {};
};

/** The ends of a text that are searched, the last one first; the complete text where they overlap. */
const ends = (text: string): readonly string[] => {
  let head = 0;
  for (let braces = 0; head < Math.min(text.length, SEARCHED_CHARS) && braces < SEARCHED_BRACES; head += 1) {
    if (text[head] === '{') braces += 1;
  }
  let tail = text.length;
  for (let braces = 0; tail > Math.max(0, text.length - SEARCHED_CHARS) && braces < SEARCHED_BRACES;) {
    tail -= 1;
    if (text[tail] === '{') braces += 1;
  }
  return tail <= head ? [text] : [text.slice(tail), text.slice(0, head)];
};

/** The closed answers in one text, from left to right, and the one in which it breaks off. */
type Answers = {
  readonly text: string;
  readonly closed: readonly ScannedObject[];
  readonly cutOff: ScannedObject | null;
  readonly looked: number;
};

/** Scans a text from left to right. An object inside an answer is not a separate answer. */
const answersIn = (text: string, bound: number): Answers => {
  const known = new Map<number, ScannedObject>();
  const covered = new Set<ScannedObject>();
  const closed: ScannedObject[] = [];
  let cutOff: ScannedObject | null = null;
  let looked = 0;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) {
    if (!known.has(at)) {
      if (looked > bound) break;
      const scanned = scanObjects(text, at, ANSWER_MEMBERS);
      looked += scanned.looked + scanned.found.length * LOOKS_PER_OBJECT;
      for (const object of scanned.found) known.set(object.start, object);
    }
    const object = known.get(at);
    if (object === undefined) continue;
    const { within } = object;
    if (within !== null && (within.answers || covered.has(within))) covered.add(object);
    else if (object.answers && object.end === -1) cutOff = object;
    else if (object.answers) closed.push(object);
  }
  return { text, closed, cutOff, looked };
};

/** The object that was found, and the cost of the search, in looks. */
export type Search = { readonly object: JsonObject | null; readonly looked: number };

/** Which of several answers counts: the last one, or the last of those with the most members of an answer. */
export type Preference = 'last' | 'fullest';

/** The closed objects in the order in which they are repaired: the first one only. */
const first = <Closed extends { readonly object: ScannedObject }>(
  closed: readonly Closed[],
  preference: Preference,
): Closed | undefined =>
  preference === 'last'
    ? closed[0]
    : closed.reduce<Closed | undefined>(
        (best, one) => (best === undefined || one.object.members > best.object.members ? one : best),
        undefined,
      );

/** A complete answer wins; otherwise a closed one if it can be repaired; otherwise the one in which the text breaks off. */
const search = (text: string, preference: Preference): Search => {
  let looked = 0;
  const parts = ends(text).map((part, _, { length }) => {
    const answers = answersIn(part, LOOKS / length);
    looked += answers.looked;
    return answers;
  });
  // From the last one to the first.
  const closed = parts.flatMap((part) => part.closed.toReversed().map((object) => ({ part: part.text, object })));
  let best: JsonObject | null = null;
  for (const { part, object } of closed.slice(0, TRIALS)) {
    if (looked > LOOKS) break;
    looked += object.end - object.start;
    const whole = parseObject(part.slice(object.start, object.end));
    if (whole === null || !isAnswer(whole)) continue;
    if (preference === 'last') return { object: whole, looked };
    if (best === null || answerMembers(whole) > answerMembers(best)) best = whole;
  }
  if (best !== null) return { object: best, looked };
  const broken = first(closed, preference);
  const repaired = broken === undefined ? null : repairObject(broken.part, broken.object, broken.object.end);
  if (repaired !== null && isAnswer(repaired)) return { object: repaired, looked };
  const [cut] = parts.flatMap(({ text: part, cutOff }) => (cutOff === null ? [] : [{ part, object: cutOff }]));
  return { object: cut === undefined ? null : beginning(cut.part, cut.object), looked };
};

/**
 * Finds the JSON object in which a model answered, anywhere in its text. Of several complete objects with a member of an answer, the preferred one
 * counts. An object is repaired only if none is complete. Null if none exists. Never throws; the work is bounded for any text.
 */
export const findObject = (text: string, preference: Preference = 'fullest'): Search => {
  // Most texts are a single object or prose; a failed parse costs more than this check.
  const whole = /^\s*\{/.test(text) ? parseObject(text) : null;
  return whole !== null && isAnswer(whole) ? { object: whole, looked: text.length } : search(text, preference);
};
