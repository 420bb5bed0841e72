import { jsonrepair } from 'jsonrepair';
import { isObject, type JsonObject } from '../../../../kernel/base/json.js';
import { scanObjects, type ScannedObject } from './scan-objects.js';

/** The members that mark an object in a model's text as its answer. */
const MEMBERS = ['dialogue', 'action', 'stateDelta', 'stateTransform', 'memoryStore', 'memories'];
const asked: ReadonlySet<string> = new Set(MEMBERS);

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
/** How many answers are parsed to find the last complete one. A failed parse makes an error, which costs as much as about a thousand looks. */
const TRIALS = 64;
/** Repairing costs at least a hundred times as much as looking. Only the last of the closed answers is repaired, and only up to this length. */
export const REPAIRED_CHARS = 4_096;

const hasMember = (object: JsonObject): boolean => MEMBERS.some((name) => Object.hasOwn(object, name));

const parse = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

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

const repair = (text: string, object: ScannedObject, end: number): JsonObject | null => {
  if (end - object.start > REPAIRED_CHARS) return null;
  try {
    return parse(jsonrepair(requoted(text, object, end)));
  } catch {
    return null;
  }
};

/** The complete members of an object in which the text breaks off. */
const beginning = (text: string, object: ScannedObject): JsonObject => {
  const { start, complete } = object;
  if (complete === -1) return {};
  return parse(`${text.slice(start, complete)}}`) ?? repair(text, object, complete) ?? {};
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
      const scanned = scanObjects(text, at, asked);
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

/** The last complete answer wins; otherwise the last closed one if it can be repaired; otherwise the one in which the text breaks off. */
const search = (text: string): Search => {
  let looked = 0;
  const parts = ends(text).map((part, _, { length }) => {
    const answers = answersIn(part, LOOKS / length);
    looked += answers.looked;
    return answers;
  });
  const closed = parts.flatMap((part) => part.closed.toReversed().map((object) => ({ part: part.text, object })));
  for (const { part, object } of closed.slice(0, TRIALS)) {
    if (looked > LOOKS) break;
    looked += object.end - object.start;
    const whole = parse(part.slice(object.start, object.end));
    if (whole !== null && hasMember(whole)) return { object: whole, looked };
  }
  const [last] = closed;
  const repaired = last === undefined ? null : repair(last.part, last.object, last.object.end);
  if (repaired !== null && hasMember(repaired)) return { object: repaired, looked };
  const [broken] = parts.flatMap(({ text: part, cutOff }) => (cutOff === null ? [] : [{ part, object: cutOff }]));
  return { object: broken === undefined ? null : beginning(broken.part, broken.object), looked };
};

/**
 * Finds the JSON object in which a model answered, anywhere in its text. Of several objects, it returns the last complete one that has one of the
 * members. It repairs an object only if none is complete. Null if none exists. Never throws; the work is bounded for any text.
 */
export const findObject = (text: string): Search => {
  // Most texts are a single object or prose; a failed parse costs more than this check.
  const whole = /^\s*\{/.test(text) ? parse(text) : null;
  return whole !== null && hasMember(whole) ? { object: whole, looked: text.length } : search(text);
};
