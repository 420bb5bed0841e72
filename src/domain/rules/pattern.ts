import { RE2JS } from 're2js';
import { cutText } from '../shared/text.js';

/** How large a pattern may be, and the program that RE2 makes of it: matching costs text × program at worst. */
const PATTERN_CHARS = 1_000;
const PROGRAM_INSTRUCTIONS = 500;
/** How much of an observation patterns see. */
export const OBSERVATION_CHARS = 65_536;
/** How many compiled patterns are kept. */
const KEPT_PATTERNS = 1_000;

export type Pattern = { test(text: string): boolean };
type Compiled = { readonly pattern: Pattern } | { readonly problem: string };

const kept = new Map<string, Compiled>();

const compile = (source: string): Compiled => {
  if (source.length > PATTERN_CHARS) return { problem: `longer than ${PATTERN_CHARS} characters` };
  try {
    const compiled = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
    if (compiled.programSize() > PROGRAM_INSTRUCTIONS) return { problem: 'its repetitions make it too large' };
    return { pattern: { test: (text) => compiled.test(text.slice(0, OBSERVATION_CHARS)) } };
  } catch (error) {
    return { problem: error instanceof Error ? cutText(error.message, 300) : 'not a regular expression' };
  }
};

/**
 * A rule's pattern, RE2 syntax, case-insensitive, linear in the text; or what is wrong with it. Compiled once: the oldest of the
 * kept ones gives way, which changes nothing but the time a next use takes.
 */
export const compilePattern = (source: string): Compiled => {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const compiled = compile(source);
  const [oldest] = kept.keys();
  if (kept.size >= KEPT_PATTERNS && oldest !== undefined) kept.delete(oldest);
  kept.set(source, compiled);
  return compiled;
};
