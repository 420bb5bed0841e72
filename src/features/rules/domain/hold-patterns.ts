import type { Sliced } from '../../../kernel/base/sliced.js';
import { compilePattern, compileWork, isKept, type PatternCost, PATTERN_SEES_CHARS, PATTERN_SLICE } from './pattern.js';
import type { DirectiveRule, DirectiveRuleSet } from './ruleset.js';

/** Counts work and decides when to pause: before the work exceeds one slice. */
function* spend(spent: { work: number }, next: number): Generator<number, void, void> {
  if (spent.work > 0 && spent.work + next > PATTERN_SLICE) {
    yield spent.work;
    spent.work = 0;
  }
  spent.work += next;
}

/** Compiles every pattern of some rules. @returns what they cost, or the first invalid pattern */
export function* compilePatterns(
  rules: readonly Pick<DirectiveRule, 'drRuleId' | 'ruleObsPattern'>[],
  most: number,
): Sliced<PatternCost & { readonly bad?: { readonly drRuleId: string; readonly problem: string } }> {
  const spent = { work: 0 };
  let [patterns, instructions, largest] = [0, 0, 0];
  const cost = (): PatternCost => ({ patterns, instructions, largest });
  for (const { drRuleId, ruleObsPattern: source } of rules) {
    if (source === null || source === '') continue;
    if (!isKept(source)) yield* spend(spent, compileWorkOf(source));
    const compiled = compilePattern(source);
    if ('problem' in compiled) return { ...cost(), bad: { drRuleId, problem: compiled.problem } };
    patterns += 1;
    instructions += compiled.pattern.instructions;
    largest = Math.max(largest, compiled.pattern.instructions);
    // The sum is already too large, so the rest need not be read.
    if (instructions > most) return cost();
  }
  if (spent.work > 0) yield spent.work;
  return cost();
}

const patternsSee = (ruleset: DirectiveRuleSet | null): number =>
  ruleset?.grammar === 2 ? (ruleset.observationChars ?? PATTERN_SEES_CHARS) : PATTERN_SEES_CHARS;

const compileWorkOf = (source: string): number => Math.min(compileWork(source), PATTERN_SLICE);

/**
 * Tests every pattern of a ruleset against an observation (in grammar 2 as the prompt shows it), once per turn, before anything is decided. The result is recorded, and every decision of
 * the turn and each replay reads the record. A pattern that does not compile never matches.
 * @returns the ids of the rules whose pattern matches, by position
 */
export function* holdPatterns(ruleset: DirectiveRuleSet | null, observation: string): Sliced<readonly string[]> {
  const text = observation.slice(0, patternsSee(ruleset));
  const spent = { work: 0 };
  const held: string[] = [];
  for (const { drRuleId, ruleObsPattern: source } of ruleset?.rulesetRules ?? []) {
    if (source === null || source === '') continue;
    if (!isKept(source)) yield* spend(spent, compileWorkOf(source));
    const compiled = compilePattern(source);
    if ('problem' in compiled) continue;
    // The end of the text is also a position to test.
    yield* spend(spent, Math.min(compiled.pattern.instructions * (text.length + 1), PATTERN_SLICE));
    if (compiled.pattern.test(text)) held.push(drRuleId);
  }
  if (spent.work > 0) yield spent.work;
  return held;
}
