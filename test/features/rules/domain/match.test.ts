import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DirectiveRuleSet, effectOf } from '../../../../src/features/rules/domain/ruleset.js';
import { matchRules } from '../../../../src/features/rules/domain/match.js';
import type { Surroundings } from '../../../../src/features/rules/domain/key-tree.js';
import { compilePattern } from '../../../../src/features/rules/domain/pattern.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import { aRule, aRuleset, heldBy } from '../../../support/rules.js';

const facts = { observation: 'The THIEF runs', npcState: { hp: 5 }, context: {} };
/** Tries the patterns, then decides. */
const match = (
  ruleset: DirectiveRuleSet | null,
  { observation, ...given }: Surroundings & { readonly observation: string },
) => matchRules(ruleset, { ...given, patternsHeld: heldBy(ruleset, observation) });
const matchIds = (...parameters: Parameters<typeof match>): readonly string[] =>
  match(...parameters).matches.map(({ rule }) => rule.drRuleId);

describe('matching a set', () => {
  it('matches when every condition holds and the pattern is found in the observation [2.8d]', () => {
    const set = aRuleset([
      { ruleCondition: [['hp', '<10']], ruleObsPattern: 'thief', ruleAction: 'FLEE' },
      { ruleCondition: [['hp', '<10']], ruleObsPattern: 'dragon', ruleAction: 'FLEE' },
      {
        ruleCondition: [
          ['hp', '<10'],
          ['mana', '*'],
        ],
        ruleAction: 'FLEE',
      },
    ]);
    expect(matchIds(set, facts)).toEqual(['r1']);
  });

  it('always matches a rule with an action and no conditions', () => {
    expect(matchIds(aRuleset([{ ruleAction: 'be brief' }]), facts)).toEqual(['r1']);
  });

  it('never matches a rule that only describes [2.8l]', () => {
    const { matches, trace } = match(aRuleset([{ ruleName: 'lore', rulePromptSuffix: 'x' }]), facts);
    expect(matches).toEqual([]);
    expect(trace.rules).toEqual([{ drRuleId: 'r1', matched: false }]);
  });

  it('puts the highest priority first, ties by position [2.8j]', () => {
    const set = aRuleset([
      { ruleAction: 'A', rulePriority: 1 },
      { ruleAction: 'B', rulePriority: 5 },
      { ruleAction: 'C', rulePriority: 1 },
      { ruleAction: 'D', rulePriority: 5 },
    ]);
    expect(matchIds(set, facts)).toEqual(['r2', 'r4', 'r1', 'r3']);
  });

  it('traces every rule in its position with the values it read [2.8j]', () => {
    const set = aRuleset([
      {
        ruleCondition: [
          ['hp', '<10'],
          ['mana', '>0'],
        ],
        ruleAction: 'A',
      },
      { ruleObsPattern: 'thief', ruleAction: 'B' },
    ]);
    expect(match(set, facts).trace).toEqual({
      rules: [
        {
          drRuleId: 'r1',
          matched: false,
          conditions: [
            { key: 'hp', expected: '<10', holds: true },
            { key: 'mana', expected: '>0', holds: false },
          ],
        },
        { drRuleId: 'r2', matched: true, patternHolds: true },
      ],
      seen: [
        { key: 'hp', value: 5 },
        { key: 'mana', value: null },
      ],
    });
  });

  it('shortens large values in a trace but compares them in full', () => {
    const set = aRuleset([{ ruleCondition: [['list', 'x99']], ruleAction: 'A' }]);
    const list = Array.from({ length: 100 }, (_, index) => `x${index}`);
    const { trace } = match(set, { ...facts, npcState: { list, note: 'y' } });
    expect(trace.rules[0]?.matched).toBe(true);
    expect(trace.seen).toEqual([{ key: 'list', value: list.slice(0, 16), shortened: true }]);
  });

  it('returns no matches and no trace without a set', () => {
    expect(match(null, facts)).toEqual({ matches: [], trace: { rules: [], seen: [] }, work: 0 });
  });

  it('returns the same for the same facts, and changes none of them [2.8a]', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), json),
        fc.string(),
        fc.string(),
        fc.string(),
        (npcState, key, value, seen) => {
          const given = { observation: seen, npcState, context: npcState };
          const before = JSON.stringify(given);
          const set = () => aRuleset([{ ruleCondition: [[key, value]], ruleAction: 'A' }]);
          expect(JSON.stringify(match(set(), given))).toBe(JSON.stringify(match(set(), given)));
          expect(JSON.stringify(given)).toBe(before);
        },
      ),
    );
  });
});

describe('patterns', () => {
  it.each([
    '(?=x)',
    '(?<=a)b',
    '(a)\\1',
    '[',
    '(a{1000}){1000}',
    'a'.repeat(1_001),
    '(\\p{L}|\\p{N}){900}',
    'a[ab]{200}c',
    `[${'\\p{L}'.repeat(60)}]`,
    '[a-\u{10ffff}b-\u{10ffff}]',
  ])('refuses %s', (source) => {
    expect(compilePattern(source)).toHaveProperty('problem');
  });

  it.each([
    ['thief', 'A Thief!', true],
    ['^thief$', 'A thief', false],
    ['straße', 'die STRASSE', false],
    ['é', 'É', true],
    ['(a+)+$', `${'a'.repeat(2_000)}b`, false],
    ['b', `${'a'.repeat(2_047)}b`, true],
    ['b', `${'a'.repeat(2_048)}b`, false],
    ['\\bruby\\b', 'the ruby necklace', true],
  ])('%s finds itself, ignoring case, anywhere in the text [2.8e]', (source, text, expected) => {
    expect(heldBy(aRuleset([{ ruleObsPattern: source }]), text).length > 0).toBe(expected);
  });

  it('matches with a hostile pattern or refuses it, and does nothing else [2.8e]', () => {
    const hostile = fc.stringMatching(/^[()ab+*?|{}\d.\\[\]^$]{0,20}$/);
    fc.assert(
      fc.property(hostile, (source) => {
        const compiled = compilePattern(source);
        const outcome = 'problem' in compiled ? compiled.problem : compiled.pattern.test('ab'.repeat(200));
        expect(['string', 'boolean']).toContain(typeof outcome);
      }),
    );
  });
});

describe('the words of an action', () => {
  it.each([
    ['FLEE', null, { kind: 'direct', type: 'FLEE', target: null }],
    ['ATTACK', 'orc', { kind: 'direct', type: 'ATTACK', target: 'orc' }],
    ['ATTACK', '', { kind: 'direct', type: 'ATTACK', target: null }],
    [' MOVE ', null, { kind: 'direct', type: 'MOVE', target: null }],
    ['FORBID ATTACK', null, { kind: 'forbid', types: ['ATTACK'] }],
    ['FORBID *', null, { kind: 'forbid', types: ['*'] }],
    ['forbid attack , Move', null, { kind: 'forbid', types: ['ATTACK', 'MOVE'] }],
    ['Forbid\tpick_up,PICK_UP', 'x', { kind: 'forbid', types: ['PICK_UP'] }],
    ['FORBID ATTACK,', null, { kind: 'say', sentence: 'FORBID ATTACK,' }],
    ['FORBIDDEN', null, { kind: 'direct', type: 'FORBIDDEN', target: null }],
    ['refuse politely', null, { kind: 'say', sentence: 'refuse politely' }],
    ['attack', null, { kind: 'say', sentence: 'attack' }],
    ['FORBID ATTACK AND MOVE', null, { kind: 'say', sentence: 'FORBID ATTACK AND MOVE' }],
    ['FORBID', null, { kind: 'say', sentence: 'FORBID' }],
    ['  ', null, { kind: 'none' }],
  ])('are read from %s (target %s) [2.8k]', (ruleAction, ruleTarget, expected) => {
    expect(effectOf(aRule({ ruleAction, ruleTarget }))).toEqual(expected);
  });
});
