import { LRUCache } from 'lru-cache';
import { RE2JS, RE2Set } from 're2js';
import { cutText } from '../../../kernel/base/text.js';

/**
 * The cost of patterns. The unit of work is one instruction of RE2's program at one character, at worst some 50 ns on a small server (measured with
 * re2js). The work of compiling a pattern is measured in the same unit.
 */

/** The limit of a pattern, in UTF-16 units; split a longer list of words into several rules. */
export const PATTERN_CHARS = 500;
/** The limit of a pattern's program, in instructions: the worst pattern on the longest text then takes one slice. */
export const PATTERN_INSTRUCTIONS = 96;
/** How much of an observation patterns see, in UTF-16 code units. */
export const PATTERN_SEES_CHARS = 2_048;
/** The maximum work between two yields to the event loop: 196,608, at worst some 10 ms. */
export const PATTERN_SLICE = PATTERN_INSTRUCTIONS * PATTERN_SEES_CHARS;
/**
 * Instructions that test for classes such as `\p{L}`, which have over a thousand ranges, take twice as long, so all instructions of such a pattern
 * count twice.
 */
const CLASS_WEIGHT = 2;
/** The work of reading one UTF-16 unit of a pattern's source. */
const SOURCE_CHAR_WORK = 100;
/** The work of reading one `\p`, `[:word:]` or `[^` in a source, which folds the cases of the whole class. */
const SOURCE_CLASS_WORK = 5_000;
/** The last code point that has cases. For a range in a source, each code point up to here is folded individually. */
const LAST_WITH_CASE = 0x1e943;
/** The memory that the states of one pattern's automaton may take, in bytes; beyond it RE2 continues without caching states. */
const AUTOMATON_BYTES = 65_536;
/** How many compiled patterns are cached. */
const KEPT_PATTERNS = 1_000;

/** What the patterns of a ruleset cost: how many there are, and the instructions of all of them and of the largest one. */
export type PatternCost = { readonly patterns: number; readonly instructions: number; readonly largest: number };

/** The limits of an observation that the patterns of a ruleset of grammar 2 search completely, in UTF-16 units. */
export const SEARCHABLE_CHARS = { least: PATTERN_SEES_CHARS, most: 16_000 } as const;
/** How much work all patterns of a turn may cause. */
const PATTERNS_WORK = 2_048 * PATTERN_SEES_CHARS;

/** How much of an observation patterns can search: each one within a slice, and all of them within their limit. */
export const searchableChars = ({ instructions, largest }: PatternCost): number => {
  const affordable = Math.floor(Math.min(PATTERN_SLICE / largest, PATTERNS_WORK / instructions));
  return Math.min(Math.max(affordable, SEARCHABLE_CHARS.least), SEARCHABLE_CHARS.most);
};

/** A compiled pattern. `instructions`: the weighted cost of one character. */
export type Pattern = { readonly instructions: number; test(text: string): boolean };
type Compiled = { readonly pattern: Pattern } | { readonly problem: string };

const CLASS = /\\p/i;
const CLASSES = /\\p|\[:|\[\^/gi;
/** The tokens that a repetition may repeat: escapes, classes, other characters; and the repetition itself. */
const TOKENS = /\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/gu;
const POINT = String.raw`\\x\{[0-9a-f]{1,8}\}|\\x[0-9a-f]{2}|\\[0-7]{1,3}|\\?[^]`;
const RANGE = new RegExp(`(${POINT})-(?=(${POINT}))`, 'giu');

/** The code point that a source writes; an escape that is not a number counts as `whenEscaped`. */
const pointOf = (written: string, whenEscaped: number): number => {
  const hex = /^\\x\{?([0-9a-f]+)/i.exec(written)?.[1];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  const octal = /^\\([0-7]+)$/.exec(written)?.[1];
  if (octal !== undefined) return Number.parseInt(octal, 8);
  return written.length > 1 && written.startsWith('\\') ? whenEscaped : (written.codePointAt(0) ?? whenEscaped);
};

/** How many tokens a source has once each `{n,m}`, even inside another, is written out m times. RE2 does so before it counts them. */
const writtenOut = (source: string): number => {
  const outer: number[] = [];
  let group = 0;
  let last = 0;
  for (const [token, from, to] of source.matchAll(TOKENS)) {
    if (from !== undefined) {
      const times = Number(to === undefined || to === '' ? from : to);
      group += last * Math.max(0, times - 1);
      last *= Math.max(1, times);
    } else if (token === '(') {
      outer.push(group);
      group = 0;
      last = 0;
    } else if (token === ')') {
      last = group;
      group += outer.pop() ?? 0;
    } else {
      last = 1;
      group += 1;
    }
  }
  return outer.reduce((sum, tokens) => sum + tokens, group);
};

/** The maximum work of compiling a source. It is known before the attempt, because some sources of 500 characters take a second. */
export const compileWork = (source: string): number => {
  if (source.length > PATTERN_CHARS) return 0;
  const folded = [...source.matchAll(RANGE)].reduce((sum, [, from = '', to = '']) => {
    const width = Math.min(pointOf(to, LAST_WITH_CASE), LAST_WITH_CASE) - pointOf(from, 0) + 1;
    return sum + Math.max(0, width);
  }, 0);
  const read = Math.max(source.length, writtenOut(source)) * SOURCE_CHAR_WORK;
  return folded + read + (source.match(CLASSES)?.length ?? 0) * SOURCE_CLASS_WORK;
};

const compile = (source: string): Compiled => {
  if (source.length > PATTERN_CHARS) return { problem: `it is longer than ${PATTERN_CHARS} characters` };
  if (compileWork(source) > PATTERN_SLICE)
    return { problem: 'its ranges, classes and repetitions make it too complex' };
  try {
    const size = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).programSize();
    const instructions = size * (CLASS.test(source) ? CLASS_WEIGHT : 1);
    if (instructions > PATTERN_INSTRUCTIONS) {
      return { problem: `its program has ${instructions} instructions, more than ${PATTERN_INSTRUCTIONS}` };
    }
    // A set of one pattern, because only sets accept a limit on their memory.
    const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE, AUTOMATON_BYTES);
    set.add(source);
    set.compile();
    return {
      pattern: { instructions, test: (text) => set.match(text).length > 0 },
    };
  } catch (error) {
    return { problem: error instanceof Error ? cutText(error.message, 300) : 'it is not a regular expression' };
  }
};

const kept = new LRUCache<string, Compiled>({ max: KEPT_PATTERNS });

/** Whether a source is in the cache of compiled patterns: using it then costs no `compileWork`. */
export const isKept = (source: string): boolean => kept.has(source);

/**
 * A rule's pattern, RE2 syntax, case-insensitive, linear in the text; or its error. It is compiled once. The least recently used pattern is dropped
 * for a new one, which only slows its next use.
 */
export const compilePattern = (source: string): Compiled => {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const compiled = compile(source);
  kept.set(source, compiled);
  return compiled;
};
