import { describe, expect, it } from 'vitest';
import { rulesetFold } from '../../../../src/features/rules/ruleset-fold.js';
import { deleteRuleset, registerRuleset } from '../../../../src/features/rules/domain/decide.js';
import { normaliseRuleset } from '../../../../src/features/rules/domain/normalise.js';
import { compilePattern } from '../../../../src/features/rules/domain/pattern.js';
import { findPreset, presetIds } from '../../../../src/features/rules/domain/presets/presets.js';
import { latestRuleset, revisionOfVersion } from '../../../../src/features/rules/domain/state.js';
import type { RulesetContent } from '../../../../src/features/rules/domain/ruleset.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { givenOf } from '../../../support/given.js';
import { allSlices } from '../../../support/rules.js';

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

describe('the registration of a rule set', () => {
  it.each<[string, JsonObject, unknown]>([
    ['needs no member', {}, { rulesetId: 'made', rulesetRules: [], template: null }],
    [
      'treats null as absent',
      { rulesetId: null, rulesetRules: null, template: null },
      { rulesetId: 'made', rulesetRules: [], template: null },
    ],
    [
      'completes a rule with defaults',
      { rulesetRules: [{}] },
      { rulesetId: 'made', rulesetRules: [emptyRule], template: null },
    ],
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
    ['prefers rulesetId to id', { id: 'a', rulesetId: 'b' }, { rulesetId: 'b', rulesetRules: [], template: null }],
    ['keeps the template', { template: 'ChatML' }, { rulesetId: 'made', rulesetRules: [], template: 'ChatML' }],
    [
      'converts other condition values to text',
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
      'reads the poor form as one rule that only describes',
      { ruleName: 'n', ruleDescription: 'd', ruleActionTypes: ['MOVE'] },
      {
        rulesetId: 'made',
        rulesetRules: [{ ...emptyRule, ruleName: 'n', ruleDescription: 'd', ruleActionTypes: ['MOVE'] }],
        template: null,
      },
    ],
  ])('%s [5.1b, 5.1c, 5.1d]', (_, body, expected) => {
    expect(normalise(body)).toEqual({ ...(expected as object), grammar: 2 });
  });

  it('keeps every member of a complete set [5.4a, 5.4b]', () => {
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
    expect(normalise(whole)).toEqual({ ...whole, grammar: 2, observationChars: 16_000 });
  });

  it.each<[string, JsonObject]>([
    ['TEMPLATE_INVALID', { template: 'chatml' }],
    ['TEMPLATE_INVALID', { template: 5 }],
    ['PATTERN_INVALID', { rulesetRules: [{}, { ruleObsPattern: '(?=x)' }] }],
    ['RULE_ID_REPEATED', { rulesetRules: [{ drRuleId: 'a' }, { drRuleId: 'b' }, { drRuleId: 'a' }] }],
    ['RULESET_TOO_LARGE', { rulesetRules: [{ ruleCondition: [['x', Array(513).fill('a').join('|')]] }] }],
  ])('is refused with %s [5.1e, 5.1f]', (code, body) => {
    const refused = normalise(body);
    expect(refused).toBeInstanceOf(Rejection);
    expect(refused).toMatchObject({ code });
  });

  it('keeps every member that is an addition [5.4c]', () => {
    const rule = {
      ...{ ruleAction: 'FLEE', ruleOnBreak: 'replace', ruleRefusal: 'Not me!', ruleObsPattern: 'wolf' },
      ...{ ruleDescription: 'Flees.', ruleActionTypes: ['FLEE'] },
    };
    const set = { grammar: 2, ruleState: [{ path: 'mood', writer: 'model' }], ruleRefusal: 'No.' };
    expect(normalise({ ...set, rulesetRules: [rule] })).toMatchObject({
      ...set,
      rulesetRules: [rule],
      observationChars: 16_000,
    });
  });

  it('is refused with the rule whose pattern is invalid', () => {
    expect(normalise({ rulesetRules: [{}, { ruleObsPattern: '[' }] })).toMatchObject({
      details: { drRuleId: 'rule-2', ruleObsPattern: '[' },
    });
  });
});

const content: RulesetContent = { rulesetId: 'r', rulesetRules: [], template: null };

describe('the lifecycle of a rule set', () => {
  const unknown = givenOf(rulesetFold)();
  const first = unknown.when(registerRuleset, content).and;
  const second = first.when(registerRuleset, { ...content, template: 'Alpaca' }).and;
  const gone = second.when(deleteRuleset, 'r').and;

  it('begins with version 1', () => {
    unknown.when(registerRuleset, content).then([{ type: 'RulesetRegistered', data: { ...content, version: 1 } }]);
  });

  it('makes a new version at every registration, holds only the newest, and has the revisions of all [5.1h]', () => {
    const { state } = second;
    expect(latestRuleset(state)).toMatchObject({ version: 2, template: 'Alpaca' });
    expect(state.latest).toBe(latestRuleset(state));
    expect([0, 1, 2, 3].map((version) => revisionOfVersion(state, version))).toEqual([null, 0, 1, null]);
  });

  it('ends for new turns with a deletion, while its versions stay at their revisions', () => {
    expect(latestRuleset(gone.state)).toBeNull();
    expect(revisionOfVersion(gone.state, 2)).toBe(1);
  });

  it('continues its version numbers when it is registered again after a deletion', () => {
    const again = gone.when(registerRuleset, content);
    expect(again.events).toMatchObject([{ data: { version: 3 } }]);
    const { state } = again.and;
    expect(latestRuleset(state)).toMatchObject({ version: 3 });
    expect([1, 2, 3, 4].map((version) => revisionOfVersion(state, version))).toEqual([0, 1, 3, null]);
  });

  it.each([
    ['never registered', unknown],
    ['already deleted', first.when(deleteRuleset, 'r').and],
  ])('allows no deletion when it was %s', (_, before) => {
    before.when(deleteRuleset, 'r').then('RULESET_NOT_FOUND');
  });

  it('ignores unknown events', () => {
    expect(first.when(() => [{ type: 'SomethingElse', data: {} }]).and.state).toBe(first.state);
  });
});

describe('presets', () => {
  it('are listed by their names [5.3a]', () => {
    expect(presetIds()).toEqual(expect.arrayContaining(['default', 'social', 'rpg', 'stealth']));
  });

  it.each(presetIds())('%s is a complete valid set under its own name [5.3b]', (presetId) => {
    const preset = findPreset(presetId);
    expect(preset?.rulesetId).toBe(presetId);
    expect(normalise(preset as unknown as JsonObject)).toEqual(preset);
    for (const { ruleObsPattern } of preset?.rulesetRules ?? []) {
      expect(compilePattern(ruleObsPattern ?? '')).toHaveProperty('pattern');
    }
    const ids = preset?.rulesetRules.map(({ drRuleId }) => drRuleId);
    expect(new Set(ids).size).toBe(ids?.length);
  });

  it.each([
    ['default', []],
    ['social', []],
    ['rpg', ['relation', 'effects']],
    ['stealth', ['alertLevel', 'alarmRaised', 'post']],
  ])('%s leaves moods to the model, and to the game what its rules rest on [5.3e]', (presetId, own) => {
    const { ruleState = [] } = findPreset(presetId) ?? {};
    const writtenBy = (writer: string) => ruleState.filter((one) => one.writer === writer).map(({ path }) => path);
    expect(writtenBy('model')).toEqual(['mood', 'relationships']);
    expect(writtenBy('game')).toEqual(['status', ...own]);
  });

  it('are found only with a leading preset_ [5.3c]', () => {
    expect(findPreset('preset_rpg')).toBe(findPreset('rpg'));
    expect(findPreset('pirate')).toBeNull();
    expect(findPreset('constructor')).toBeNull();
  });
});
