import { describe, expect, it } from 'vitest';

import { holdPatterns } from '../../../../src/features/rules/domain/hold-patterns.js';
import { ARRAY_ELEMENTS } from '../../../../src/features/rules/domain/key-tree.js';
import { DECISION_WORK, matchRules } from '../../../../src/features/rules/domain/match.js';
import { normaliseRuleset } from '../../../../src/features/rules/domain/normalise.js';
import { compileWork, PATTERN_SEES_CHARS, PATTERN_SLICE } from '../../../../src/features/rules/domain/pattern.js';
import { RULESET_BOUNDS } from '../../../../src/features/rules/domain/ruleset-size.js';
import type { DirectiveRule, DirectiveRuleSet } from '../../../../src/features/rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { allSlices, aRuleset } from '../../../support/rules.js';
import { seededRandom } from '../../../support/seeded-random.js';

type Rules = readonly Partial<DirectiveRule>[];

/** The result of `POST /rules`. */
const register = (rules: Rules): DirectiveRuleSet | Rejection => {
  const { result } = allSlices(normaliseRuleset({ rulesetRules: rules }, () => 'made'));
  return result instanceof Rejection ? result : { ...result, version: 1 };
};
const times = <Item>(count: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const pattern = (ruleObsPattern: string): Partial<DirectiveRule> => ({ ruleObsPattern });
const condition = (key: string, value: string): Partial<DirectiveRule> => ({ ruleCondition: [[key, value]] });

describe('the cost of a set', () => {
  it.each<[title: string, rules: Rules, code: string, figure?: string]>([
    ['repetitions that make one program too large', [pattern('a[ab]{200}c')], 'PATTERN_INVALID'],
    ['classes that make one program too large', [pattern('(\\p{L}|\\p{N}){30}')], 'PATTERN_INVALID'],
    [
      'a range with too many cases to fold, many times',
      [pattern(`[${'a-\u{10ffff}'.repeat(100)}]`)],
      'PATTERN_INVALID',
    ],
    ['the same by its numbers', [pattern(`[${'\\x61-\\x{10ffff}'.repeat(30)}]`)], 'PATTERN_INVALID'],
    ['classes named too often', [pattern(`[${'\\pL'.repeat(60)}]`)], 'PATTERN_INVALID'],
    ['programs too large together', times(30, () => pattern('a[ab]{88}c')), 'RULESET_TOO_LARGE', 'patternInstructions'],
    ['sources too large together', times(20, () => pattern(`[!-\u{1d000}]`)), 'RULESET_TOO_LARGE', 'patternSource'],
    ['conditions', times(640, () => condition('hp', '5')), 'RULESET_TOO_LARGE', 'conditions'],
    ['alternatives', [condition('hp', '|'.repeat(512))], 'RULESET_TOO_LARGE', 'conditions'],
    ['deep keys', times(100, (n) => condition(`a${n}.b.c`, '5')), 'RULESET_TOO_LARGE', 'keyParts'],
    ['a long value', [condition('hp', `<x${' '.repeat(1_024)}y`)], 'RULESET_TOO_LARGE', 'valueBytes'],
    ['long ids', times(40, (n) => ({ drRuleId: `${n}${'x'.repeat(1_000)}` })), 'RULESET_TOO_LARGE', 'nameBytes'],
  ])('is refused beyond the bounds, with the figures: %s [5.1f]', (_, rules, code, figure) => {
    const refused = register(rules) as Rejection;
    expect(refused).toMatchObject({ code });
    if (figure === undefined) return;
    const { figures, bounds } = refused.details as Record<'figures' | 'bounds', Record<string, number>>;
    expect(bounds).toEqual(RULESET_BOUNDS);
    expect(figures[figure]).toBeGreaterThan(bounds[figure] ?? Infinity);
  });

  it.each<[string, Partial<DirectiveRule>, readonly string[]]>([
    ['a long key', condition('a.'.repeat(480_000), '5'), ['nameBytes', 'valueBytes']],
    ['a long value', condition('a.b', '|'.repeat(900_000)), ['nameBytes', 'valueBytes']],
    ['many alternatives', condition('a.b', '|'.repeat(513)), ['nameBytes', 'valueBytes', 'conditions']],
  ])('is refused before anything beyond the first bound is measured: %s', (_, rule, figures) => {
    const refused = register([rule]) as Rejection;
    expect(refused.code).toBe('RULESET_TOO_LARGE');
    expect(Object.keys(refused.details['figures'] as object)).toEqual(figures);
  });

  it('is refused before an expensive pattern is compiled', () => {
    const slices = allSlices(normaliseRuleset({ rulesetRules: times(1_000, () => pattern('[!-\u{1d000}]')) }, String));
    expect(slices.slices).toEqual([]);
    expect(compileWork('[!-\u{1d000}]')).toBeGreaterThan(PATTERN_SLICE / 2);
  });

  it.each([
    `(?:${'a?'.repeat(240)}){1000}`,
    '(?:(?:a{50}b){50}){2}',
    '(?:[a-z]{0,50}b){50}',
    '[[:word:]]'.repeat(45),
    '[^a]'.repeat(45),
  ])('is recognised before an expensive pattern is parsed: %s', (source) => {
    expect(compileWork(source)).toBeGreaterThan(PATTERN_SLICE);
    expect((register([pattern(source)]) as Rejection).details).toMatchObject({
      problem: expect.stringMatching(/^its ranges, classes and repetitions/) as string,
    });
  });

  it.each([
    '[abcdefghijklmnopqrstuvwxyz]{80}',
    '(?:a{10}){9}',
    '\\x{1f600}{80}',
    '[^,]+,[^,]+',
    'a{0}',
    '[a{1000}]{9}',
  ])('is accepted for a pattern whose program is small enough: %s', (source) => {
    expect(register([pattern(source)])).not.toBeInstanceOf(Rejection);
  });

  it('is spread over slices of preparation', () => {
    const { slices } = allSlices(
      normaliseRuleset({ rulesetRules: times(16, (n) => pattern(`[!-\u{1c000}]${'z'.repeat(n)}`)) }, String),
    );
    expect(slices.length).toBeGreaterThan(8);
    expect(Math.max(...slices)).toBeLessThanOrEqual(PATTERN_SLICE);
  });
});

/** Mutates a pair repeatedly, and keeps the more expensive one: the worst of this many attempts. */
const climb = <Pair>(
  attempts: number,
  first: Pair,
  change: (pair: Pair) => Pair,
  cost: (pair: Pair) => number,
): number => {
  let best = { pair: first, cost: cost(first) };
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const pair = change(best.pair);
    const found = cost(pair);
    if (found >= best.cost) best = { pair, cost: found };
  }
  return best.cost;
};

describe.each([1, 2, 3])('the worst legal pair of a set and an input found from seed %i', (seed) => {
  const draws = seededRandom(`cost ${seed}`);
  const random = (): number => {
    const [high = 0, low = 0] = draws.bytes(2);
    return (high * 256 + low) / 65_536;
  };
  const upTo = (count: number): number => Math.floor(random() * count);
  const oneOf = <Item>(items: readonly [Item, ...Item[]]): Item => items[upTo(items.length)] ?? items[0];

  it('stays within its slices and the bound of a turn for patterns', () => {
    const piece = () =>
      `${oneOf(['a', '[ab]', '.', '(a|b)', '(.*a)', '(a?b)', '\\b', '\\pL'])}${oneOf(['', '*', `{${1 + upTo(90)}}`])}`;
    type Pair = { readonly patterns: readonly string[]; readonly observation: string };
    const worstSlice = { work: 0 };
    const costOf = ({ patterns, observation }: Pair): number => {
      const set = register(patterns.map(pattern));
      if (set instanceof Rejection) return -1;
      const { slices } = allSlices(holdPatterns(set, observation));
      worstSlice.work = Math.max(worstSlice.work, ...slices);
      return slices.reduce((sum, work) => sum + work, 0);
    };
    const worst = climb<Pair>(
      120,
      { patterns: ['a'], observation: 'a' },
      ({ patterns, observation }) => ({
        patterns:
          random() < 0.3
            ? patterns.map((source, index) => (index === upTo(patterns.length) ? source + piece() : source))
            : [...patterns, ...times(1 + upTo(8), () => piece() + piece())],
        observation: random() < 0.3 ? (observation + oneOf(['ab', 'b', 'é '])).repeat(4).slice(0, 60_000) : observation,
      }),
      costOf,
    );
    const bound = RULESET_BOUNDS.patternInstructions * (PATTERN_SEES_CHARS + 1) + RULESET_BOUNDS.patternSource;
    expect(worstSlice.work).toBeLessThanOrEqual(PATTERN_SLICE);
    expect(worst).toBeLessThanOrEqual(bound);
    // The search reached the expensive cases.
    expect(worst).toBeGreaterThan(bound / 4);
  });

  it('stays within the bound of a decision for conditions', () => {
    type Pair = {
      readonly keys: readonly string[];
      readonly value: string;
      readonly depth: number;
      readonly width: number;
    };
    const things = (depth: number, width: number): Json =>
      depth === 0
        ? 'x'
        : times(width, () => (depth === 1 ? { a: 'x', b: [1, 2], c: { a: 'y' } } : things(depth - 1, width)));
    const costOf = ({ keys, value, depth, width }: Pair): number => {
      const set = register(keys.map((key) => condition(key, value)));
      if (set instanceof Rejection || width ** depth > 50_000) return -1;
      const list = things(depth, width);
      const npcState: JsonObject = { list, a: { list } };
      return matchRules(set, { npcState, context: { list }, patternsHeld: [] }).work;
    };
    const worst = climb<Pair>(
      60,
      { keys: ['list.a'], value: '<0', depth: 1, width: 10 },
      ({ keys, value, depth, width }) => ({
        keys:
          random() < 0.6
            ? [
                ...keys,
                ...times(
                  1 + upTo(60),
                  () => `${oneOf(['list', 'a.list', 'context.list', 'list.0'])}.${oneOf(['a', 'b', `x${upTo(500)}`])}`,
                ),
              ]
            : keys,
        value: random() < 0.1 ? `${value}|<${upTo(9)}` : value,
        depth: random() < 0.1 ? 1 + upTo(3) : depth,
        width: random() < 0.3 ? Math.ceil(width * (1 + random())) : width,
      }),
      costOf,
    );
    expect(worst).toBeLessThanOrEqual(DECISION_WORK);
    expect(worst).toBeGreaterThan(DECISION_WORK / 6);
  });
});

describe('a decision', () => {
  const list = times(20_000, (n) => ({ name: `n${n}`, hp: n }));

  it('reads the first 1,000 elements of an array, once for each key however many conditions use it', () => {
    const once = matchRules(aRuleset([condition('list.name', 'no')]), {
      npcState: { list },
      context: {},
      patternsHeld: [],
    });
    const often = matchRules(aRuleset(times(100, () => condition('list.name', 'no'))), {
      npcState: { list },
      context: {},
      patternsHeld: [],
    });
    // Three roots, the list and its elements, the elements for their names, and the names; then each condition tests the values found.
    const lookedAt = 2 + 1 + 1 + 3 * ARRAY_ELEMENTS;
    expect(once.work).toBe(lookedAt + ARRAY_ELEMENTS);
    expect(often.work).toBe(lookedAt + 100 * ARRAY_ELEMENTS);
  });

  it('finds the thousandth element and not the next one, even in the largest set [2.8i]', () => {
    const largest = times(RULESET_BOUNDS.keyParts - 3, (n) => ({ ...condition(`x${n}`, 'a|b'), ruleAction: 'A' }));
    const matches = (value: string) =>
      matchRules(aRuleset([{ ...condition('list.name', value), ruleAction: 'A' }, ...largest]), {
        npcState: { list },
        context: {},
        patternsHeld: [],
      }).matches.length;
    expect([matches('n999'), matches('n1000')]).toEqual([1, 0]);
  });
});
