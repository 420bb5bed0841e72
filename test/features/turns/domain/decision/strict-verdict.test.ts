import { describe, expect, it } from 'vitest';

import { normaliseRuleset } from '../../../../../src/features/rules/domain/normalise.js';
import type { DirectiveRuleSet } from '../../../../../src/features/rules/domain/ruleset.js';
import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import { reachVerdict } from '../../../../../src/features/turns/domain/decision/verdict.js';
import type { JsonObject } from '../../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../../src/kernel/base/rejection.js';
import { allSlices, anInput } from '../../../../support/rules.js';

const setOf = (rulesetRules: readonly JsonObject[], members: JsonObject = {}): DirectiveRuleSet => {
  const content = allSlices(normaliseRuleset({ rulesetId: 'test', rulesetRules, ...members }, () => 'test')).result;
  if (content instanceof Rejection) throw new Error(JSON.stringify(content.details));
  return { ...content, version: 1 };
};
const said = (output: JsonObject): string => JSON.stringify({ dialogue: 'Hm.', ...output });
const action = (type: string, members: JsonObject = {}): JsonObject => ({ action: { type, ...members } });

describe('a verdict by rules of grammar 2', () => {
  it('sees the price that a model names: a price floor fails closed [5.6f, 5.6g]', () => {
    const ruleset = setOf([
      {
        drRuleId: 'fair',
        ruleCondition: [['action.payload.price', '>=10']],
        ruleAction: 'ALLOW SELL',
        rulePriority: 2,
      },
      { drRuleId: 'floor', ruleAction: 'FORBID SELL', rulePriority: 1 },
    ]);
    const sells = (payload?: JsonObject) =>
      reachVerdict(anInput({ ruleset }), said(action('SELL', payload === undefined ? {} : { payload }))).verdict.valid;
    expect(sells({ price: 10 })).toBe(true);
    for (const payload of [{ price: 9 }, { price: 'cheap' }, { price: null }, { cost: 10 }, undefined])
      expect(sells(payload)).toBe(false);
  });

  it('sees the requested change of the state, and the state after its accepted part [5.5g]', () => {
    const ruleset = setOf(
      [
        { drRuleId: 'angry', ruleCondition: [['after.mood', 'angry']], ruleAction: 'FORBID GIVE', rulePriority: 2 },
        { drRuleId: 'greedy', ruleCondition: [['delta.gold', '*']], ruleAction: 'FORBID TRADE' },
        { drRuleId: 'rich', ruleCondition: [['after.gold', '>5']], ruleAction: 'FORBID MOVE' },
      ],
      { ruleState: [{ path: 'mood', writer: 'model' }] },
    );
    const valid = (type: string, stateDelta: JsonObject) =>
      reachVerdict(
        anInput({ ruleset, data: { gold: 1 }, npcState: { gold: 1 } }),
        said({ ...action(type, { target: 'x' }), stateDelta }),
      ).verdict.valid;
    expect([valid('GIVE', { mood: 'angry' }), valid('GIVE', { mood: 'calm' })]).toEqual([false, true]);
    expect([valid('TRADE', { gold: 9 }), valid('TRADE', {})]).toEqual([false, true]);
    // The game writes the gold, so it stays as it is.
    expect(valid('MOVE', { gold: 9 })).toBe(true);
  });

  it('tells a member that the change removes from one that it leaves alone by the state after it [5.5x]', () => {
    const removed = [
      ['state.oath', '*'],
      ['after.oath', '!'],
    ];
    const ruleset = setOf(
      [
        { drRuleId: 'unseen', ruleCondition: [['delta.oath', '!']], ruleAction: 'be brief' },
        { drRuleId: 'sworn', ruleCondition: removed, ruleAction: 'FORBID GIVE' },
      ],
      { ruleState: [{ path: 'oath', writer: 'model', optional: true }] },
    );
    const matched = (data: JsonObject, stateDelta: JsonObject) => {
      const { grounds } = reachVerdict(
        anInput({ ruleset, data, npcState: data }),
        said({ ...action('GIVE', { target: 'x' }), stateDelta }),
      );
      return grounds.rules.flatMap(({ drRuleId, matched: holds }) => (holds ? [drRuleId] : []));
    };
    const sworn = { oath: 'to guard the gate' };
    expect(matched(sworn, { oath: null })).toEqual(['unseen', 'sworn']);
    expect(matched(sworn, { mood: 'glad' })).toEqual(['unseen']);
    expect(matched(sworn, { oath: 'none' })).toEqual([]);
    expect(matched({}, { oath: null })).toEqual(['unseen']);
  });

  it('says the line of the rule that refuses, otherwise that of the set, and why apart from it [5.7a, 5.7b]', () => {
    const ruleset = setOf(
      [
        { drRuleId: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'Plot.', ruleRefusal: 'It was my mother’s.' },
        { drRuleId: 'calm', ruleAction: 'FORBID ATTACK', ruleReason: 'A peaceful town.' },
      ],
      { ruleRefusal: 'No.' },
    );
    const heard = (type: string, members: JsonObject = {}, given = ruleset) => {
      const { dialogue, reason } = reachVerdict(anInput({ ruleset: given }), said(action(type, members))).verdict;
      return [dialogue, reason];
    };
    expect(heard('GIVE')).toEqual(['It was my mother’s.', 'Plot.']);
    expect(heard('ATTACK')).toEqual(['No.', 'A peaceful town.']);
    expect(heard('MOVE')).toEqual(['No.', 'It does not say where to move: name a target or numeric x and y.']);
    const bare = setOf([{ ruleAction: 'FORBID GIVE', ruleReason: 'Plot.' }]);
    expect(heard('GIVE', {}, bare)).toEqual(['Plot.', 'Plot.']);
  });

  describe('whose rule replaces what breaks it', () => {
    const fightsBack = {
      drRuleId: 'fights-back',
      ruleCondition: [['context.attacked', 'true']],
      ruleAction: 'REQUIRE ATTACK',
      ruleTarget: 'Tom',
      ruleOnBreak: 'replace',
      ruleRefusal: 'Then die!',
      rulePriority: 5,
    };
    const judge = (ruleset: DirectiveRuleSet, output: string, context: JsonObject = {}) =>
      reachVerdict(anInput({ ruleset, observation: 'Tom stabs.', context: { attacked: true, ...context } }), output);

    it.each([
      ['another action', said(action('FLEE'))],
      ['the required action at another target', said(action('ATTACK', { target: 'Eve' }))],
      ['plain words', 'Please stop!'],
      ['an action that cannot be read', said({ action: { type: 'no type at all, but words' } })],
      [
        'a change of the state and memories',
        said({ ...action('FLEE'), stateDelta: { mood: 'x' }, memoryStore: ['y'] }),
      ],
    ])('delivers its action and its line instead of %s [5.7c, 5.7d]', (_, output) => {
      const { verdict, grounds } = judge(setOf([fightsBack]), output);
      expect(verdict).toEqual({
        valid: true,
        dialogue: 'Then die!',
        action: { type: 'ATTACK', target: 'Tom' },
        stateDelta: {},
        memoryStore: [expect.objectContaining({ text: 'Tom stabs.' })],
      });
      expect(grounds.replacedBy).toBe('fights-back');
    });

    it('leaves the required action alone [5.7c]', () => {
      const output = said({ ...action('ATTACK', { target: 'Tom' }), stateDelta: { mood: 'grim' } });
      const { verdict, grounds } = judge(setOf([fightsBack]), output);
      expect(verdict).toMatchObject({ valid: true, dialogue: 'Hm.', stateDelta: { mood: 'grim' } });
      expect(grounds).not.toHaveProperty('replacedBy');
    });

    it('is refused if a higher rule or the world refuses its action [5.7e]', () => {
      const truce = { drRuleId: 'truce', ruleAction: 'FORBID ATTACK', ruleReason: 'Truce.', rulePriority: 9 };
      expect(judge(setOf([fightsBack, truce]), said(action('FLEE'))).verdict).toMatchObject({
        valid: false,
        details: { drRuleId: 'truce' },
      });
      const world = { worldState: { entities: ['Eve'] } };
      expect(judge(setOf([fightsBack]), said(action('FLEE')), world).verdict).toMatchObject({
        valid: false,
        code: 'TARGET_NOT_FOUND',
        dialogue: 'There is no "Tom" here to attack.',
      });
    });

    it('is refused by a higher rule even if its conditions do not hold for its own action [5.7e]', () => {
      const ban = { drRuleId: 'ban', ruleAction: 'FORBID FLEE', rulePriority: 9 };
      for (const condition of [
        ['action.type', 'ATTACK'],
        ['delta.mood', '*'],
      ]) {
        const runs = { ...fightsBack, ruleCondition: [condition], ruleAction: 'REQUIRE FLEE', ruleTarget: null };
        const output = said({ ...action('ATTACK', { target: 'x' }), stateDelta: { mood: 'grim' } });
        expect(judge(setOf([ban, runs]), output).verdict).toMatchObject({ valid: false, details: { drRuleId: 'ban' } });
        expect(judge(setOf([runs]), output).verdict).toMatchObject({ valid: true, action: { type: 'FLEE' } });
      }
    });

    it('does not replace what a higher rule allows or refuses [5.7c]', () => {
      const allowed = { drRuleId: 'run', ruleAction: 'ALLOW FLEE, SPEAK', rulePriority: 9 };
      expect(judge(setOf([fightsBack, allowed]), said(action('FLEE'))).verdict).toMatchObject({
        action: { type: 'FLEE' },
      });
      expect(judge(setOf([fightsBack, allowed]), 'Stop!').verdict).toMatchObject({ valid: true, dialogue: 'Stop!' });
      const silent = { drRuleId: 'silent', ruleAction: 'FORBID SPEAK', rulePriority: 9 };
      expect(judge(setOf([fightsBack, silent]), 'Stop!').verdict).toMatchObject({
        valid: false,
        details: { drRuleId: 'silent' },
      });
    });

    it('refuses instead without ruleOnBreak, except for plain words [5.7c]', () => {
      const { ruleOnBreak: _, ...refuses } = fightsBack;
      expect(judge(setOf([refuses]), said(action('FLEE'))).verdict.valid).toBe(false);
      expect(judge(setOf([refuses]), 'Stop!').verdict.valid).toBe(true);
    });
  });

  it('leaves out what state rules do not allow, notes it, and stays valid [5.8b, 5.8g]', () => {
    const ruleState = [
      { path: 'questDone', writer: 'game' },
      { path: 'trust', writer: 'model', type: 'integer', min: 0, max: 5, step: 1, onBreak: 'clamp' },
    ];
    const ruleset = setOf([], { ruleState });
    const data = { questDone: false, trust: 2, inventory: ['rope'] };
    const stateDelta = { questDone: true, trust: 99, inventory: ['crown'], mood: 'glad' };
    const { verdict, grounds } = reachVerdict(anInput({ ruleset, data, npcState: data }), said({ stateDelta }));
    expect(verdict).toMatchObject({ valid: true, stateDelta: { trust: 3, mood: 'glad' } });
    expect(verdict.stateDelta).toEqual({ trust: 3, mood: 'glad' });
    expect(grounds.stateBreaks).toEqual([
      { path: 'questDone', onBreak: 'leave_out', reason: 'Only the game changes it.' },
      { path: 'trust', onBreak: 'clamp', reason: 'It must be at most 5.', instead: 3 },
      { path: 'inventory', onBreak: 'leave_out', reason: 'Only the game changes it.' },
    ]);
  });

  it('is refused for a change whose rule says so [5.8g]', () => {
    const ruleset = setOf([], { ruleState: [{ path: 'questDone', writer: 'game', onBreak: 'refuse' }] });
    const { verdict } = reachVerdict(anInput({ ruleset }), said({ stateDelta: { questDone: true, mood: 'glad' } }));
    expect(verdict).toMatchObject({
      valid: false,
      code: 'STATE_CHANGE_INVALID',
      stateDelta: {},
      details: { path: 'questDone', reason: 'Only the game changes it.' },
    });
  });

  it('does not tell the model that an action is forbidden which a rule may allow once it is known [5.6j]', () => {
    const ruleset = setOf([
      { ruleCondition: [['action.payload.price', 'all(>=10)']], ruleAction: 'ALLOW SELL', rulePriority: 5 },
      { ruleAction: 'ALLOW SPEAK', rulePriority: 5 },
      { ruleCondition: [['context.done', 'true']], ruleAction: 'ALLOW PAY', rulePriority: 5 },
      { ruleAction: 'FORBID SELL, PAY, GIVE, SPEAK', ruleReason: 'Only on terms.', rulePriority: 1 },
      { ruleAction: 'FORBID *' },
    ]);
    const rulesIn = (context: JsonObject) =>
      buildPrompt(anInput({ ruleset, context }))
        .prompt.split('\n')
        .filter((line) => /allowed|forbidden|act/.test(line));
    expect(rulesIn({})).toEqual([
      '- SPEAK is allowed.',
      '- PAY, GIVE are forbidden ("Only on terms.").',
      '- SELL is allowed only within limits ("Only on terms.").',
      '- No other action is allowed.',
      expect.stringContaining('Answer with one JSON object') as string,
    ]);
    expect(rulesIn({ done: true })).toContain('- GIVE is forbidden ("Only on terms.").');
    const bare = buildPrompt(anInput({ ruleset: setOf([{ ruleAction: 'FORBID *' }]) })).prompt;
    expect(bare).toContain('- You must not act at all.');
  });

  it('shows the model exactly the part of the observation that its patterns search [5.5v]', () => {
    const ruleset = setOf([{ ruleObsPattern: '[a-z]{40}[0-9]{20}', ruleAction: 'be wary' }]);
    const chars = ruleset.observationChars ?? 0;
    expect(chars).toBeGreaterThanOrEqual(2_048);
    expect(chars).toBeLessThan(16_000);
    const { prompt } = buildPrompt(anInput({ ruleset, observation: `${'x'.repeat(chars - 1)}YZ` }));
    expect(prompt.includes('xY')).toBe(false);
    expect(prompt).toContain(`${'x'.repeat(chars - 1)}…`);
  });
});
