import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectOf } from '../../../src/domain/rules/effect.js';
import { matchRules } from '../../../src/domain/rules/match.js';
import { compilePattern } from '../../../src/domain/rules/pattern.js';
import type { Json } from '../../../src/domain/shared/json.js';
import { aRule, aRuleset } from '../../support/rules.js';

const facts = { observation: 'The THIEF runs', npcState: { hp: 5 }, context: {} };
const matchIds = (...parameters: Parameters<typeof matchRules>): readonly string[] =>
  matchRules(...parameters).matches.map(({ rule }) => rule.drRuleId);

describe('matching a set', () => {
  it('matches when every condition holds and the pattern is found in the observation', () => {
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

  it('matches always when there is an action and nothing to hold', () => {
    expect(matchIds(aRuleset([{ ruleAction: 'be brief' }]), facts)).toEqual(['r1']);
  });

  it('never matches a rule that only describes', () => {
    const { matches, traces } = matchRules(aRuleset([{ ruleName: 'lore', rulePromptSuffix: 'x' }]), facts);
    expect(matches).toEqual([]);
    expect(traces).toEqual([{ drRuleId: 'r1', matched: false, conditions: [] }]);
  });

  it('puts the highest priority first, ties by position', () => {
    const set = aRuleset([
      { ruleAction: 'A', rulePriority: 1 },
      { ruleAction: 'B', rulePriority: 5 },
      { ruleAction: 'C', rulePriority: 1 },
      { ruleAction: 'D', rulePriority: 5 },
    ]);
    expect(matchIds(set, facts)).toEqual(['r2', 'r4', 'r1', 'r3']);
  });

  it('traces every rule in its position with the values it saw', () => {
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
    expect(matchRules(set, facts).traces).toEqual([
      {
        drRuleId: 'r1',
        matched: false,
        conditions: [
          { key: 'hp', expected: '<10', seen: 5, holds: true },
          { key: 'mana', expected: '>0', seen: null, holds: false },
        ],
      },
      { drRuleId: 'r2', matched: true, conditions: [], patternHolds: true },
    ]);
  });

  it('shortens large values in a trace but compares them whole', () => {
    const set = aRuleset([{ ruleCondition: [['list', 'x99']], ruleAction: 'A' }]);
    const list = Array.from({ length: 100 }, (_, index) => `x${index}`);
    const [trace] = matchRules(set, { ...facts, npcState: { list, note: 'y' } }).traces;
    expect(trace?.matched).toBe(true);
    expect(trace?.conditions[0]?.seen).toEqual(list.slice(0, 16));
  });

  it('has no matches and no traces without a set', () => {
    expect(matchRules(null, facts)).toEqual({ matches: [], traces: [] });
  });

  it('is the same for the same facts, and changes none of them', () => {
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
          expect(JSON.stringify(matchRules(set(), given))).toBe(JSON.stringify(matchRules(set(), given)));
          expect(JSON.stringify(given)).toBe(before);
        },
      ),
    );
  });
});

describe('patterns', () => {
  it.each(['(?=x)', '(?<=a)b', '(a)\\1', '[', '(a{1000}){1000}', 'a'.repeat(1_001), '(\\p{L}|\\p{N}){900}'])(
    'refuses %s',
    (source) => {
      expect(compilePattern(source)).toHaveProperty('problem');
    },
  );

  it.each([
    ['thief', 'A Thief!', true],
    ['^thief$', 'A thief', false],
    ['straße', 'die STRASSE', false],
    ['é', 'É', true],
    ['(a+)+$', `${'a'.repeat(50_000)}b`, false],
    ['\\bruby\\b', 'the ruby necklace', true],
  ])('%s finds itself, ignoring case, anywhere in the text', (source, text, expected) => {
    const compiled = compilePattern(source);
    expect('pattern' in compiled && compiled.pattern.test(text)).toBe(expected);
  });

  it('matches with a hostile pattern or refuses it, never anything else', () => {
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

describe('what an action says', () => {
  it.each([
    ['FLEE', null, { kind: 'direct', type: 'FLEE', target: null }],
    ['ATTACK', 'orc', { kind: 'direct', type: 'ATTACK', target: 'orc' }],
    ['ATTACK', '', { kind: 'direct', type: 'ATTACK', target: null }],
    [' MOVE ', null, { kind: 'direct', type: 'MOVE', target: null }],
    ['FORBID ATTACK', null, { kind: 'forbid', type: 'ATTACK' }],
    ['FORBID *', null, { kind: 'forbid', type: '*' }],
    ['refuse politely', null, { kind: 'say', sentence: 'refuse politely' }],
    ['attack', null, { kind: 'say', sentence: 'attack' }],
    ['FORBID ATTACK AND MOVE', null, { kind: 'say', sentence: 'FORBID ATTACK AND MOVE' }],
    ['FORBID', null, { kind: 'say', sentence: 'FORBID' }],
    ['  ', null, { kind: 'none' }],
  ])('%s (target %s)', (ruleAction, ruleTarget, expected) => {
    expect(effectOf(aRule({ ruleAction, ruleTarget }))).toEqual(expected);
  });
});
