import { describe, expect, it } from 'vitest';
import { deleteRuleset, registerRuleset, type RulesetDecision } from '../../../src/domain/rules/decide.js';
import { normaliseRuleset } from '../../../src/domain/rules/normalise.js';
import { compilePattern } from '../../../src/domain/rules/pattern.js';
import { findPreset, presetIds } from '../../../src/domain/rules/presets.js';
import type { RulesetEvent } from '../../../src/domain/rules/ruleset-events.js';
import {
  evolveRuleset,
  initialRuleset,
  latestRuleset,
  revisionOfVersion,
  type RulesetState,
} from '../../../src/domain/rules/ruleset-state.js';
import type { RulesetContent } from '../../../src/domain/rules/ruleset.js';
import type { JsonObject } from '../../../src/domain/shared/json.js';
import { Rejection } from '../../../src/domain/shared/rejection.js';
import { allSlices } from '../../support/rules.js';

const normalise = (body: JsonObject) => allSlices(normaliseRuleset(body, () => 'made')).result;
const emptyRule = {
  drRuleId: 'rule-1',
  ruleName: '',
  ruleCondition: [],
  ruleAction: '',
  ruleReason: '',
  ruleTarget: null,
  rulePriority: 0,
  ruleObsPattern: null,
  rulePromptSuffix: null,
};

describe('what a registration becomes', () => {
  it.each<[string, JsonObject, unknown]>([
    ['needs no member', {}, { rulesetId: 'made', rulesetRules: [], template: null }],
    [
      'takes null for absent',
      { rulesetId: null, rulesetRules: null, template: null },
      { rulesetId: 'made', rulesetRules: [], template: null },
    ],
    ['fills a rule up', { rulesetRules: [{}] }, { rulesetId: 'made', rulesetRules: [emptyRule], template: null }],
    [
      'makes rule ids from positions',
      { rulesetRules: [{ drRuleId: 'mine' }, {}] },
      {
        rulesetId: 'made',
        rulesetRules: [
          { ...emptyRule, drRuleId: 'mine' },
          { ...emptyRule, drRuleId: 'rule-2' },
        ],
        template: null,
      },
    ],
    ['accepts id', { id: 'a' }, { rulesetId: 'a', rulesetRules: [], template: null }],
    ['lets rulesetId win over id', { id: 'a', rulesetId: 'b' }, { rulesetId: 'b', rulesetRules: [], template: null }],
    ['keeps the template', { template: 'ChatML' }, { rulesetId: 'made', rulesetRules: [], template: 'ChatML' }],
    [
      'takes condition values of other kinds as their text',
      {
        rulesetRules: [
          {
            ruleCondition: [
              ['hp', 5],
              ['alive', true],
              ['mood', 'calm'],
            ],
          },
        ],
      },
      {
        rulesetId: 'made',
        rulesetRules: [
          {
            ...emptyRule,
            ruleCondition: [
              ['hp', '5'],
              ['alive', 'true'],
              ['mood', 'calm'],
            ],
          },
        ],
        template: null,
      },
    ],
    [
      'takes the poor form as one rule that only describes',
      { ruleName: 'n', ruleDescription: 'd', ruleActionTypes: ['MOVE'] },
      {
        rulesetId: 'made',
        rulesetRules: [{ ...emptyRule, ruleName: 'n', ruleDescription: 'd', ruleActionTypes: ['MOVE'] }],
        template: null,
      },
    ],
  ])('%s', (_, body, expected) => {
    expect(normalise(body)).toEqual(expected);
  });

  it('keeps every member of a whole set', () => {
    const whole = {
      rulesetId: 'r',
      template: 'Raw',
      rulesetRules: [
        {
          drRuleId: 'x',
          ruleName: 'n',
          ruleCondition: [['hp', '<5']],
          ruleAction: 'FLEE',
          ruleReason: 'why',
          ruleTarget: 'home',
          rulePriority: 3,
          ruleObsPattern: 'orc',
          rulePromptSuffix: 'run',
        },
      ],
    };
    expect(normalise(whole)).toEqual(whole);
  });

  it.each<[string, JsonObject]>([
    ['TEMPLATE_INVALID', { template: 'chatml' }],
    ['TEMPLATE_INVALID', { template: 5 }],
    ['PATTERN_INVALID', { rulesetRules: [{}, { ruleObsPattern: '(?=x)' }] }],
    ['RULE_ID_REPEATED', { rulesetRules: [{ drRuleId: 'a' }, { drRuleId: 'b' }, { drRuleId: 'a' }] }],
    ['RULESET_TOO_LARGE', { rulesetRules: [{ ruleCondition: [['x', Array(513).fill('a').join('|')]] }] }],
  ])('is refused with %s', (code, body) => {
    const refused = normalise(body);
    expect(refused).toBeInstanceOf(Rejection);
    expect(refused).toMatchObject({ code });
  });

  it('names the rule whose pattern is wrong', () => {
    expect(normalise({ rulesetRules: [{}, { ruleObsPattern: '[' }] })).toMatchObject({
      details: { drRuleId: 'rule-2', ruleObsPattern: '[' },
    });
  });
});

const content = (name: string): RulesetContent => ({ rulesetId: name, rulesetRules: [], template: null });
const meta = { schemaVersion: 1 };
const after = (...events: readonly RulesetEvent[]): RulesetState =>
  events.reduce<RulesetState>(
    (state, event, revision) => evolveRuleset(state, { ...event, revision, meta }),
    initialRuleset,
  );
const eventsOf = (decision: RulesetDecision): readonly RulesetEvent[] =>
  decision instanceof Rejection ? [] : decision;

describe('the life of a rule set', () => {
  const first = registerRuleset(initialRuleset, content('r'));
  const second = registerRuleset(after(...first), { ...content('r'), template: 'Alpaca' });
  const gone = eventsOf(deleteRuleset(after(...first, ...second), 'r'));

  it('begins with version 1', () => {
    expect(first).toEqual([{ type: 'RulesetRegistered', data: { ...content('r'), version: 1 } }]);
  });

  it('makes a new version of every registration, keeps it alone, and knows where the old ones stand', () => {
    const state = after(...first, ...second);
    expect(latestRuleset(state)).toMatchObject({ version: 2, template: 'Alpaca' });
    expect(state.latest).toBe(latestRuleset(state));
    expect([0, 1, 2, 3].map((version) => revisionOfVersion(state, version))).toEqual([null, 0, 1, null]);
  });

  it('is gone for new turns after a deletion, and its versions stand where they stood', () => {
    const state = after(...first, ...second, ...gone);
    expect(latestRuleset(state)).toBeNull();
    expect(revisionOfVersion(state, 2)).toBe(1);
  });

  it('counts on when it is registered again after a deletion', () => {
    const again = registerRuleset(after(...first, ...second, ...gone), content('r'));
    expect(again).toMatchObject([{ data: { version: 3 } }]);
    const state = after(...first, ...second, ...gone, ...again);
    expect(latestRuleset(state)).toMatchObject({ version: 3 });
    expect([1, 2, 3, 4].map((version) => revisionOfVersion(state, version))).toEqual([0, 1, 3, null]);
  });

  it.each([
    ['never registered', initialRuleset],
    ['already deleted', after(...first, ...gone)],
  ])('cannot be deleted when it was %s', (_, state) => {
    expect(deleteRuleset(state, 'r')).toMatchObject({ code: 'RULESET_NOT_FOUND' });
  });

  it('ignores events that it does not know', () => {
    const state = after(...first);
    expect(evolveRuleset(state, { type: 'SomethingElse', data: {}, revision: 1, meta })).toBe(state);
  });
});

describe('presets', () => {
  it('are named', () => {
    expect(presetIds()).toEqual(expect.arrayContaining(['default', 'social', 'rpg', 'stealth']));
  });

  it.each(presetIds())('%s is a whole valid set under its own name', (presetId) => {
    const preset = findPreset(presetId);
    expect(preset?.rulesetId).toBe(presetId);
    expect(normalise(preset as unknown as JsonObject)).toEqual(preset);
    for (const { ruleObsPattern } of preset?.rulesetRules ?? []) {
      expect(compilePattern(ruleObsPattern ?? '')).toHaveProperty('pattern');
    }
    const ids = preset?.rulesetRules.map(({ drRuleId }) => drRuleId);
    expect(new Set(ids).size).toBe(ids?.length);
  });

  it('are found with a leading preset_, and not otherwise', () => {
    expect(findPreset('preset_rpg')).toBe(findPreset('rpg'));
    expect(findPreset('pirate')).toBeNull();
    expect(findPreset('constructor')).toBeNull();
  });
});
