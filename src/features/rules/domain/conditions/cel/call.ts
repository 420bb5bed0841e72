import { double, isShort, STEP_CHARS, wholeNumber } from './calculate.js';
import { fail, type Result, type CelRun, take } from './run.js';
import { type CelValue, type FunctionName, isList } from './tree.js';

/** Longer texts are not read as numbers, in UTF-16 units. */
const NUMBER_CHARS = 64;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)$/;

/** The engine searches for a longer text by trying it at each place. */
const SEARCHED_CHARS = 250;

/** How many UTF-16 units are searched in one step: a text of one letter takes long if it is searched for several of them. */
const SEARCH_CHARS = 16;

const stepsFor = (text: string): number => Math.ceil(text.length / STEP_CHARS);

const isPart = (run: CelRun, text: string, part: string, at: number): Result => {
  if (part.length > text.length) return false;
  const tries = part.length > SEARCHED_CHARS ? part.length : 1;
  return take(run, Math.ceil(text.length / SEARCH_CHARS) * tries, at) ? text.includes(part) : undefined;
};

const sizeOf = (run: CelRun, value: CelValue, at: number): Result => {
  if (typeof value === 'string') {
    if (!take(run, stepsFor(value), at)) return undefined;
    let size = 0;
    for (let index = 0; index < value.length; index += 1, size += 1)
      if ((value.codePointAt(index) ?? 0) > 0xffff) index += 1;
    return BigInt(size);
  }
  // To count the members of an object, the engine makes a list of them, however many there are.
  if (!isList(value)) return fail(run, 'types', at);
  return isShort(run, value, at) ? BigInt(value.length) : undefined;
};

const isWritten = (text: string, like: RegExp): boolean => text.length <= NUMBER_CHARS && like.test(text);

const doubleOf = (run: CelRun, value: CelValue, at: number): Result => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return fail(run, 'types', at);
  return isWritten(value, NUMBER) ? double(run, Number(value), at) : fail(run, 'notNumber', at);
};

const wholeNumberOf = (run: CelRun, value: CelValue, at: number): Result => {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return wholeNumber(run, BigInt(Math.trunc(value)), at);
  if (typeof value !== 'string') return fail(run, 'types', at);
  return isWritten(value, WHOLE_NUMBER) ? wholeNumber(run, BigInt(value), at) : fail(run, 'notNumber', at);
};

const IS_ASCII = /^[\0-\x7f]*$/;

/** Where a capital letter of ASCII differs from a small one. */
const CASE_BIT = 0x20;
const [CAPITAL_A, CAPITAL_Z] = [0x41, 0x5a];

/** Only ASCII, because a version of Unicode would decide about other letters. */
const lower = (text: string): string => {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  const units = Buffer.from(text, 'utf16le');
  for (let at = 0; at < units.length; at += 2) {
    const low = units[at] ?? 0;
    if (low >= CAPITAL_A && low <= CAPITAL_Z && units[at + 1] === 0) units[at] = low + CASE_BIT;
  }
  return units.toString('utf16le');
};

const lowered = (run: CelRun, text: string, at: number): Result =>
  take(run, Math.ceil(text.length / SEARCH_CHARS), at) ? lower(text) : undefined;

const startsOrEnds = (run: CelRun, name: 'startsWith' | 'endsWith', text: string, part: string, at: number): Result => {
  if (part.length > text.length) return false;
  if (!take(run, stepsFor(part), at)) return undefined;
  return name === 'startsWith' ? text.startsWith(part) : text.endsWith(part);
};

/** Calls a function with one or two values. */
export const called = (run: CelRun, name: FunctionName, value: CelValue, other: CelValue, at: number): Result => {
  if (name === 'size') return sizeOf(run, value, at);
  if (name === 'double') return doubleOf(run, value, at);
  if (name === 'int') return wholeNumberOf(run, value, at);
  if (typeof value !== 'string') return fail(run, 'types', at);
  if (name === 'lowerAscii') return lowered(run, value, at);
  if (typeof other !== 'string') return fail(run, 'types', at);
  return name === 'contains' ? isPart(run, value, other, at) : startsOrEnds(run, name, value, other, at);
};
