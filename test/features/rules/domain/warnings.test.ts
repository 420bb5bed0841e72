import { describe, expect, it } from 'vitest';

import { findPreset, presetIds } from '../../../../src/features/rules/domain/presets/presets.js';
import type { DirectiveRule } from '../../../../src/features/rules/domain/ruleset.js';
import { readActions } from '../../../../src/features/rules/domain/actions/read-actions.js';
import { readOwnPrompt } from '../../../../src/features/rules/domain/prompt/read-own-prompt.js';
import { problemsOf } from '../../../../src/features/rules/domain/problems.js';
import { readStateRules } from '../../../../src/features/rules/domain/state-rules/read-state-rules.js';
import { warningsOf } from '../../../../src/features/rules/domain/warnings.js';
import { allSlices, allWarnings, aRule } from '../../../support/rules.js';

const warned = (members: Partial<DirectiveRule>) => allWarnings({ rulesetRules: [aRule(members)] });

describe('a registration', () => {
  it.each<[title: string, rule: Partial<DirectiveRule>, about: RegExp]>([
    ['FORBID with more than types', { ruleAction: 'FORBID ATTACK AND MOVE' }, /forbids nothing/],
    ['another form of FORBID', { ruleAction: 'FORBIDS ATTACK' }, /forbids nothing/],
    ['FORBID with nothing', { ruleAction: 'forbid' }, /forbids nothing/],
    ['FORBID with an extra comma', { ruleAction: 'Forbid ATTACK,' }, /forbids nothing/],
    ['a type in lower case', { ruleAction: 'pick-up' }, /PICK_UP/],
    ['a target of a forbidden type', { ruleAction: 'FORBID ATTACK', ruleTarget: 'orc' }, /ruleTarget/],
    ['a suffix of a rule that only describes', { rulePromptSuffix: 'Be kind.' }, /only a description/],
    ['a condition without an effect', { ruleCondition: [['hp', '<5']], ruleReason: 'Weak.' }, /match has no effect/],
    ['a key below npcState', { ruleCondition: [['npcState.hp', '<5']], ruleAction: 'FLEE' }, /leave out "npcState\."/],
    ['an invalid operator', { ruleCondition: [['hp', '==5']], ruleAction: 'FLEE' }, /exact text/],
    ['what grammar 2 refuses', { ruleCondition: [['hp', '>=5,<8']], ruleAction: 'FLEE' }, /Grammar 2 refuses/],
    ['an unknown verb', { ruleAction: 'DENY SELL' }, /Perhaps FORBID SELL was meant/],
    ['a verb of grammar 2', { ruleAction: 'ALLOW SELL' }, /only shown to the model/],
  ])('gets a warning for a rule that seems to decide something: %s [5.1g, 5.5c]', (_, rule, about) => {
    expect(warned(rule)).toEqual([{ drRuleId: 'r1', message: expect.stringMatching(about) as string }]);
  });

  it('gets a warning for a condition on an id that requests may not have there [5.13o]', () => {
    const ruleCondition = [['context.rulesetId', 'inn'] as const, ['context.place', 'inn'] as const];
    const message = expect.stringContaining('Requests with "context.rulesetId" are refused') as string;
    for (const set of [{}, { grammar: 2 as const }])
      expect(allWarnings({ ...set, rulesetRules: [aRule({ ruleCondition, ruleAction: 'FLEE' })] })).toEqual([
        { drRuleId: 'r1', message },
      ]);
  });

  it.each<[title: string, rule: Partial<DirectiveRule>]>([
    ['a list of types in any case', { ruleAction: 'forbid attack, Move' }],
    ['a type', { ruleAction: 'FLEE', ruleTarget: 'home' }],
    ['a sentence', { ruleAction: 'be kind to strangers' }],
    ['a suffix for matches', { ruleObsPattern: 'thief', rulePromptSuffix: 'Shout.' }],
    ['lore', { ruleName: 'lore', ruleDescription: 'Only a description.' }],
    [
      'operators',
      {
        ruleCondition: [
          ['hp', '!=5'],
          ['mp', '<= 5'],
        ],
        ruleAction: 'FLEE',
      },
    ],
  ])('gets no warning for a rule that does decide: %s', (_, rule) => {
    expect(warned(rule)).toEqual([]);
  });

  it.each<[key: string, value: string, about: RegExp | null]>([
    ['action.payload.price', '>=10', /write all\(>=10\)\.$/],
    ['action.payload.price', '10..20 | 50', /write all\(10\.\.20 \| 50\)\.$/],
    ['action.payload.item', '!=crown', /enough for the rule to allow the action\.$/],
    ['action.payload.item', 'any(rope)', /enough for the rule to allow the action\.$/],
    ['delta.trust', '<5', /write all\(<5\)\.$/],
    ['action.payload.price', 'all(>=10)', null],
    ['action.payload.price', '!', null],
    ['action.payload.price', '*', null],
    ['action.target', 'gate', null],
    ['facts.hour', '>=8', null],
  ])(
    'gets a warning if one element of a list of a model is enough to allow: %s %s [5.1g, 5.5n]',
    (key, value, about) => {
      const rule = aRule({ ruleCondition: [[key, value]], ruleAction: 'ALLOW SELL' });
      const messages = (ruleAction: string) =>
        allWarnings({ grammar: 2, rulesetRules: [{ ...rule, ruleAction }] })
          .map(({ message }) => message)
          .filter((message) => message.startsWith('A model can write a list'));
      expect(messages('ALLOW SELL')).toEqual(about === null ? [] : [expect.stringMatching(about)]);
      expect(messages('REQUIRE SELL')).toEqual([]);
    },
  );

  it.each<[key: string, isWarned: boolean]>([
    ['delta.trust', true],
    ['action.payload.price', true],
    ['action.confidence', true],
    ['after.trust', true],
    ['trust', true],
    ['action.type', false],
    ['action.target', false],
    ['after.hp', false],
    ['after.mood', false],
    ['mood', false],
    ['facts.alarm', false],
    ['context.hour', false],
    ['observation', false],
  ])('gets a warning if a model can get rid of what a rule requires: %s [5.1g, 5.5u]', (key, isWarned) => {
    const messages = (ruleAction: string) =>
      allWarnings({
        ...{ grammar: 2, ruleState: [{ path: 'mood', writer: 'model', values: ['calm'] }] },
        rulesetRules: [
          aRule({
            ruleCondition: [
              ['facts.war', 'true'],
              [key, 'X'],
            ],
            ruleAction,
          }),
        ],
      })
        .map(({ message }) => message)
        .filter((message) => message.includes('requires nothing'));
    const about = expect.stringContaining(`The rule reads ${key}, which a model can write`) as string;
    expect([messages('REQUIRE FLEE'), messages('FLEE')]).toEqual(isWarned ? [[about], [about]] : [[], []]);
    expect([messages('FORBID FLEE'), messages('ALLOW FLEE')]).toEqual([[], []]);
  });

  it('gets that warning for an expression, too [5.1g, 5.5u]', () => {
    const rule = aRule({ ruleCondition: [['cel', 'facts.war && delta.trust > 5']], ruleAction: 'FLEE' });
    expect(allWarnings({ grammar: 2, rulesetRules: [rule] }).map(({ message }) => message)).toEqual([
      expect.stringContaining('The rule reads delta.trust, which a model can write'),
    ]);
  });

  it('is looked at rule by rule, so that other work runs in between', () => {
    const rulesetRules = Array.from({ length: 500 }, (_, n) =>
      aRule({ drRuleId: `r${n}`, ruleCondition: [['hp', '<5']] }),
    );
    const { slices } = allSlices(warningsOf({ grammar: 2, rulesetRules }));
    expect(slices.filter((work) => work === 1)).toHaveLength(500);
    const read = { stateRules: readStateRules(null), actions: readActions(null), ownPrompt: readOwnPrompt(null) };
    expect(allSlices(problemsOf({ rulesetRules }, rulesetRules, read)).slices.length).toBeGreaterThan(500);
  });

  it('gets a warning for a set without rules [5.1g]', () => {
    expect(allWarnings({ rulesetRules: [] })).toEqual([
      { drRuleId: '', message: expect.stringMatching(/no rules.*rulesetRules/) as string },
    ]);
  });

  it('gets none for a set that only has a prompt of its own [5.1g, 13.6a]', () => {
    const prompt = { opening: 'Du bist Mira.' };
    expect(allWarnings({ grammar: 2, rulesetRules: [], prompt })).toEqual([]);
    expect(allWarnings({ rulesetRules: [], prompt })).toHaveLength(1);
  });

  it.each(presetIds())('of a preset needs no warning: %s [5.3d]', (presetId) => {
    expect(allWarnings(findPreset(presetId) ?? { rulesetRules: [] })).toEqual([]);
  });
});

describe('a registration of grammar 2', () => {
  const about = (...rules: readonly Partial<DirectiveRule>[]) =>
    allWarnings({
      grammar: 2,
      rulesetRules: rules.map((rule, at) => aRule({ drRuleId: `r${at + 1}`, ...rule })),
      ruleState: [{ path: '*', writer: 'game' }],
    });
  const price = (value: string) => ({ ruleCondition: [['action.payload.price', value]] as const });

  it('gets a warning for a rule that a model gets round by leaving something out [5.13k]', () => {
    expect(about({ ruleAction: 'FORBID SELL', ...price('<10') })).toEqual([
      {
        drRuleId: 'r1',
        message:
          'A model may leave out action.payload.price, and then the rule forbids nothing. If it should forbid then too, write !|<10; or let an ALLOW SELL with ["action.payload.price","all(>=10)"] above a FORBID SELL without conditions decide.',
      },
    ]);
  });

  it.each([
    ['action.payload.price', '5..9'],
    ['action.payload.price', 'all(<10)'],
    ['action.payload.price', 'any(<10)'],
    ['delta.gold', '<10'],
    ['delta.gold', '!=10'],
    ['after.trust', '<3'],
    ['action.confidence', '<0.5'],
    ['action.reason', '<"b"'],
  ] as const)('gets one for every member that a model writes, and every measure: %s %s [5.13k]', (key, value) => {
    expect(about({ ruleAction: 'FORBID SELL', ruleCondition: [[key, value]] })).toMatchObject([
      { message: expect.stringContaining(`A model may leave out ${key}`) as string },
    ]);
  });

  it.each([
    ['action.payload.price', '!|<10'],
    ['action.payload.price', 'none(>=10)'],
    ['action.payload.price', 'count(>=10) = 0'],
    ['action.payload.price', 'count(<10) != 1'],
    ['action.payload.item', 'gun|knife'],
    ['action.payload.item', '*'],
    ['action.type', '!=SPEAK'],
    ['facts.hour', '<8'],
  ] as const)('gets none if that is covered, or leaving it out helps nobody: %s %s [5.13k]', (key, value) => {
    expect(about({ ruleAction: 'FORBID SELL', ruleCondition: [[key, value]] })).toEqual([]);
  });

  it('gets none if another rule forbids the same when the member is missing [5.13k]', () => {
    const low = { ruleAction: 'FORBID SELL', ...price('<10') };
    const open = [{ message: expect.stringContaining('may leave out') as string }];
    expect(about(low, { ruleAction: 'FORBID SELL' })).toEqual([]);
    expect(about(low, { ruleAction: 'FORBID *', ...price('!') })).toEqual([]);
    expect(about(low, { ruleAction: 'FORBID GIVE' })).toMatchObject(open);
    expect(about(low, { ruleAction: 'FORBID SELL', ruleTarget: 'orc' })).toMatchObject(open);
    expect(about(low, { ruleAction: 'FORBID SELL', ruleObsPattern: 'deal' })).toMatchObject(open);
    expect(about(low, { ruleAction: 'FORBID SELL', ruleCondition: [['facts.sale', 'true']] })).toMatchObject(open);
    expect(about(low, { ruleAction: 'ALLOW SELL', ...price('all(>=10)') })).toMatchObject(open);
  });

  it.each<[between: Partial<DirectiveRule>, isOpen: boolean]>([
    [{ ruleAction: 'ALLOW SELL', ruleCondition: [['facts.open', 'true']] }, true],
    [{ ruleAction: 'ALLOW *' }, true],
    [{ ruleAction: 'SELL' }, true],
    [{ ruleAction: 'ALLOW SELL', ...price('!|>=10') }, true],
    [{ ruleAction: 'ALLOW SELL', ruleCondition: [['cel', 'facts.open == true']] }, true],
    [{ ruleAction: 'ALLOW SELL', rulePriority: 1 }, true],
    [{ ruleAction: 'ALLOW SELL', ...price('all(>=10)') }, false],
    [{ ruleAction: 'ALLOW GIVE' }, false],
    [{ ruleAction: 'ALLOW SELL', rulePriority: 0 }, false],
    [{ ruleAction: 'ALLOW SELL', rulePriority: 10 }, false],
    [{ ruleAction: 'FORBID GIVE' }, false],
  ])('gets one if a rule between the two may allow the action: %j [5.13k]', (between, isOpen) => {
    const low = { ruleAction: 'FORBID SELL', rulePriority: 9, ...price('<10') };
    const floor = { ruleAction: 'FORBID SELL', rulePriority: 1, ...price('!') };
    const found = about(low, { rulePriority: 5, ...between }, floor).filter(({ message }) =>
      message.includes('may leave out'),
    );
    expect(found).toHaveLength(isOpen ? 1 : 0);
  });

  it.each<[expression: string, leaves: string | null]>([
    ['has(action.payload.price) && action.payload.price < 10', 'leave out action.payload.price'],
    ['"price" in action.payload && action.payload.price < 10', 'leave out action.payload.price'],
    ['facts.sale == true && (has(delta.gold) ? delta.gold < 0 : false)', 'leave out delta.gold'],
    ['has(after.trust) && (after.trust < 3 || facts.war == true)', 'leave out after.trust'],
    ['action.payload.price != null && action.payload.price < 10', 'make action.payload.price null'],
    ['!(!has(action.payload.price) || action.payload.price >= 10)', 'leave out action.payload.price'],
    ['!has(action.payload.price) ? false : action.payload.price < 10', 'leave out action.payload.price'],
    ['has(action.payload.price) == true && action.payload.price < 10', 'leave out action.payload.price'],
    ['false != has(action.payload.price) && action.payload.price < 10', 'leave out action.payload.price'],
    ['action.payload.price == null ? false : action.payload.price < 10', 'make action.payload.price null'],
    ['!(action.payload.price == null) && action.payload.price < 10', 'make action.payload.price null'],
    ['facts.sale == true ? has(delta.gold) && delta.gold < 0 : has(delta.gold)', 'leave out delta.gold'],
    ['!(has(delta.gold) ? delta.gold >= 0 : true)', 'leave out delta.gold'],
    ['delta.gold < 5 ? has(delta.gold) : false', null],
    ['!(has(action.payload.price) && action.payload.price >= 10)', null],
    ['!has(action.payload.price) ? true : action.payload.price < 10', null],
    ['has(action.payload.price) == false || action.payload.price < 10', null],
    ['action.payload.price == null || action.payload.price < 10', null],
    ['action.payload.price < 10', null],
    ['!has(action.payload.price) || action.payload.price < 10', null],
    ['has(action.payload.price) ? action.payload.price < 10 : true', null],
    ['has(action.payload.price) && action.payload.price < 10 || facts.war == true', null],
    ['has(state.price) && state.price < 10', null],
    ['"key" in action.payload.items', null],
    ['has(action.type)', null],
  ])('gets one for an expression that is false without a member, too: %s [5.13k]', (expression, leaves) => {
    const rule: Partial<DirectiveRule> = { ruleAction: 'FORBID SELL', ruleCondition: [['cel', expression]] };
    const expected = `A model may ${leaves}, and then the rule forbids nothing.`;
    expect(about(rule)).toMatchObject(
      leaves === null ? [] : [{ message: expect.stringContaining(expected) as string }],
    );
    const path = leaves?.split(' ').find((word) => word.includes('.')) ?? 'action.payload.price';
    expect(about(rule, { ruleAction: 'FORBID SELL', ruleCondition: [[path, '!']] })).toEqual([]);
  });

  it('gets none if other rules forbid it together, share an expression or have one for nothing [5.13k]', () => {
    const open = [{ message: expect.stringContaining('may leave out') as string }];
    const both = { ruleAction: 'FORBID SELL, BUY', ...price('<10') };
    expect(about(both, { ruleAction: 'FORBID SELL' }, { ruleAction: 'FORBID BUY' })).toEqual([]);
    expect(about(both, { ruleAction: 'FORBID SELL' }, { ruleAction: 'FORBID GIVE' })).toMatchObject(open);
    const cel = (expression: string) => ['cel', expression] as const;
    const sale = cel('facts.sale == true');
    const low: Partial<DirectiveRule> = {
      ruleAction: 'FORBID SELL',
      ruleCondition: [...price('<10').ruleCondition, sale],
    };
    const floor = (expression: string) => ({ ruleAction: 'FORBID SELL', ruleCondition: [cel(expression)] });
    expect(about(low, { ruleAction: 'FORBID SELL', ruleCondition: [sale] })).toEqual([]);
    expect(about(low, floor('facts.war == true'))).toMatchObject(open);
    expect(about(low, floor('!has(action.payload.price) || action.payload.price == null'))).toEqual([]);
    expect(about(low, floor('action.payload.price == null'))).toMatchObject(open);
    expect(about(low, floor('has(action.payload.price)')).slice(0, 1)).toMatchObject(open);
  });

  it('has no remedy that would silence the NPC [5.13k]', () => {
    const [warning] = about({ ruleAction: 'FORBID *', ...price('<10') });
    expect(warning?.message).toBe(
      'A model may leave out action.payload.price, and then the rule forbids nothing. If it should forbid then too, name the actions that need it in place of *, with !|<10; or let an ALLOW with ["action.payload.price","all(>=10)"] above a FORBID of these without conditions decide.',
    );
  });

  it('ends with a warning about those that were not compared [5.13k]', () => {
    const low = { ruleAction: 'FORBID SELL', ...price('<10') };
    const found = about(...Array.from({ length: 66 }, () => low));
    expect(found).toHaveLength(65);
    expect(found.at(-1)).toEqual({
      drRuleId: '',
      message: 'Only the first 64 conditions on what a model may leave out were looked at. 2 rules have more of them.',
    });
  });

  it.each([
    ['player|thief', /without alternatives/],
    ['!=player', /no condition/],
    ['any(player)', /no condition/],
    ['*', /Leave it out/],
    ['player', null],
  ])('gets a warning for a target that looks like a condition: %s [5.13l]', (ruleTarget, message) => {
    expect(about({ ruleAction: 'FORBID SELL', ruleTarget }).map((one) => one.message)).toEqual(
      message === null ? [] : [expect.stringMatching(message)],
    );
  });

  it('gets a warning for a bare name that is probably one of the context [5.13m]', () => {
    const reads = (...keys: readonly string[]) =>
      about(...keys.map((key) => ({ ruleAction: 'FORBID SELL', ruleCondition: [[key, 'x']] as const }))).map(
        ({ drRuleId, message }) => `${drRuleId} ${message}`,
      );
    expect(reads('hour')).toEqual([
      "r1 hour is a member of the NPC's state. Perhaps context.hour was meant; if not, write state.hour.",
    ]);
    expect(reads('tide.level', 'context.tide.level')).toEqual([
      expect.stringContaining('Perhaps context.tide.level was meant'),
    ]);
    expect(reads('state.hour', 'context.hour', 'tide', 'facts.hour')).toEqual([]);
    const rulesetRules = [aRule({ ruleAction: 'FORBID SELL', ruleCondition: [['hour', 'x']] })];
    expect(allWarnings({ grammar: 2, rulesetRules, ruleState: [{ path: 'hour', writer: 'game' }] })).toEqual([]);
  });
});
