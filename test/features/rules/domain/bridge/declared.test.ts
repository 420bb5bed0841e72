import { describe, expect, it } from 'vitest';

import {
  type ActionDeclaration,
  declarationsFrom,
} from '../../../../../src/features/rules/domain/actions/action-declaration.js';
import type { Action } from '../../../../../src/features/rules/domain/bridge/action.js';
import { checkAction, situationOf, validateAction } from '../../../../../src/features/rules/domain/bridge/validate.js';
import { CHECKS_BYTES } from '../../../../../src/features/rules/domain/trace.js';
import { type Json, jsonBytes, type JsonObject } from '../../../../../src/kernel/base/json.js';
import { aRuleset } from '../../../../support/rules.js';

const declare = (members: Partial<ActionDeclaration>): ActionDeclaration => ({
  type: 'ACT',
  description: 'x',
  ...members,
});
const actions: readonly ActionDeclaration[] = [
  declare({ type: 'WAVE', target: 'entity' }),
  declare({ type: 'TAKE', target: 'item' }),
  declare({ type: 'WALK', target: 'place' }),
  declare({ type: 'KNEEL', target: 'none' }),
  declare({ type: 'SHOUT' }),
  declare({ type: 'HAND_OVER', takes: 'item' }),
  declare({ type: 'DROP', target: 'item', takes: 'item' }),
  declare({
    type: 'SELL',
    payload: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
  }),
];
const codeOf = (action: Action, context: JsonObject = {}, npcState: JsonObject = {}) =>
  checkAction(action, situationOf(npcState, context, 'x', declarationsFrom(actions))).refusal?.code;
const ask = (action: Json, context: Json = {}, ruleset: object = {}) =>
  validateAction({
    ...{ action, context, recorded: { inventory: ['rope'] }, facts: {}, patternsHeld: [] },
    ruleset: { ...aRuleset([]), grammar: 2, actions, ...ruleset },
  });
const around = { worldState: { entities: ['guest'], items: [{ id: 'lamp' }], places: { inn: {} } } };
const inventory = ['rope', { id: 'r2', name: 'Ring' }];

describe('a declared action', () => {
  it.each<[string, Action, string | undefined]>([
    ['somebody who is here', { type: 'WAVE', target: 'guest' }, undefined],
    ['somebody who is not', { type: 'WAVE', target: 'ghost' }, 'TARGET_NOT_FOUND'],
    ['nobody', { type: 'WAVE' }, 'TARGET_MISSING'],
    ['a space', { type: 'WAVE', target: ' ' }, 'TARGET_MISSING'],
    ['constructor', { type: 'WAVE', target: 'constructor' }, 'TARGET_NOT_FOUND'],
    ['an item that lies here', { type: 'TAKE', target: 'lamp' }, undefined],
    ['an item that it has', { type: 'TAKE', target: 'rope' }, undefined],
    ['an item of nobody', { type: 'TAKE', target: 'crown' }, 'TARGET_NOT_FOUND'],
    ['a person as an item', { type: 'TAKE', target: 'guest' }, 'TARGET_NOT_FOUND'],
    ['a place', { type: 'WALK', target: 'inn' }, undefined],
    ['a place that is not there', { type: 'WALK', target: 'moon' }, 'TARGET_NOT_FOUND'],
    ['nothing, as it should be', { type: 'KNEEL', target: '' }, undefined],
    ['something, as it should not be', { type: 'KNEEL', target: 'guest' }, 'TARGET_UNEXPECTED'],
    ['anything', { type: 'SHOUT', target: 'moon' }, undefined],
  ])('is aimed at what it is for: %s [5.12d, 5.12n]', (_, action, code) => {
    expect(codeOf(action, around, { inventory })).toBe(code);
  });

  it('is not asked for targets that the world does not list [5.12d]', () => {
    for (const type of ['WAVE', 'TAKE', 'WALK'])
      expect(codeOf({ type, target: 'x' }, {}, { inventory })).toBeUndefined();
    expect(codeOf({ type: 'KNEEL', target: 'x' })).toBe('TARGET_UNEXPECTED');
  });

  it.each<[string, Action, string | undefined]>([
    ['it has', { type: 'HAND_OVER', payload: { item: 'rope' } }, undefined],
    ['it has under both names', { type: 'HAND_OVER', payload: { item: { id: 'r2', name: 'Ring' } } }, undefined],
    ['are several', { type: 'HAND_OVER', payload: { items: ['rope', { itemId: 'r2' }] } }, undefined],
    ['it has not', { type: 'HAND_OVER', payload: { item: 'crown' } }, 'ITEM_NOT_IN_INVENTORY'],
    [
      'has another name',
      { type: 'HAND_OVER', payload: { item: { id: 'rope', name: 'crown' } } },
      'ITEM_NOT_IN_INVENTORY',
    ],
    ['hides behind another', { type: 'HAND_OVER', payload: { item: 'rope', give: 'crown' } }, 'ITEM_NOT_IN_INVENTORY'],
    ['is beside the payload', { type: 'HAND_OVER', item: 'crown', payload: { item: 'rope' } }, 'ITEM_NOT_IN_INVENTORY'],
    ['is the payload', { type: 'HAND_OVER', payload: 'crown' }, 'ITEM_NOT_IN_INVENTORY'],
    ['is in an inner list', { type: 'HAND_OVER', payload: { items: ['rope', ['crown']] } }, 'ITEM_MISSING'],
    ['is a number', { type: 'HAND_OVER', payload: { item: 5 } }, 'ITEM_MISSING'],
    ['has an empty name', { type: 'HAND_OVER', payload: { item: '' } }, 'ITEM_MISSING'],
    ['is not named', { type: 'HAND_OVER', target: 'player' }, 'ITEM_MISSING'],
    ['is null', { type: 'HAND_OVER', payload: { item: null } }, 'ITEM_MISSING'],
    ['are too many', { type: 'HAND_OVER', items: Array<string>(65).fill('rope') }, 'ITEMS_TOO_MANY'],
    ['is its target', { type: 'DROP', target: 'rope' }, undefined],
    ['is a target that it has not', { type: 'DROP', target: 'crown' }, 'ITEM_NOT_IN_INVENTORY'],
    ['comes with its target', { type: 'DROP', target: 'rope', payload: { item: 'crown' } }, 'ITEM_NOT_IN_INVENTORY'],
  ])('takes only an item that %s [5.12e, 5.12p]', (_, action, code) => {
    expect(codeOf(action, {}, { inventory })).toBe(code);
  });

  it.each<[inventory: Json, has: boolean]>([
    [['rope'], true],
    [[{ id: 'rope' }], true],
    [[{ npcId: 'rope' }], true],
    [[{ itemId: 'rope', quantity: 2 }], true],
    [[{ item: 'rope' }], true],
    [[{ id: 'r1', name: 'rope' }], true],
    [{ rope: 2 }, true],
    [{ rope: true }, true],
    [{ rope: { quantity: 1 } }, true],
    [[{ id: 'rope', quantity: 0 }], false],
    [{ rope: 0 }, false],
    [{ rope: false }, false],
    [{ rope: null }, false],
    [{ rope: { quantity: 0 } }, false],
    [[{ label: 'rope' }], false],
    [[['rope']], false],
    [[5, null], false],
    [[], false],
    [{}, false],
  ])('takes what an inventory has that is written in one of these ways: %j [5.12r]', (written, has) => {
    const code = codeOf({ type: 'HAND_OVER', payload: { item: 'rope' } }, {}, { inventory: written });
    expect(code).toBe(has ? undefined : 'ITEM_NOT_IN_INVENTORY');
  });

  it.each<[npcState: JsonObject, why: string]>([
    [{}, 'is missing'],
    [{ inventory: null }, 'is missing'],
    [{ inventory: 'rope' }, 'cannot be read'],
    [{ inventory: 5 }, 'cannot be read'],
    [{ inventory: true }, 'cannot be read'],
  ])('takes nothing from an inventory that is missing or cannot be read: %j [5.12p]', (npcState, why) => {
    const refusalOf = (action: Action, declared = declarationsFrom(actions)) =>
      checkAction(action, situationOf(npcState, {}, 'x', declared)).refusal;
    const refusal = {
      code: 'ITEM_NOT_IN_INVENTORY',
      reason: `It does not have "rope": its inventory ${why}.`,
      details: { item: 'rope', inventory: [] },
    };
    expect(refusalOf({ type: 'HAND_OVER', payload: { item: 'rope' } })).toEqual(refusal);
    expect(refusalOf({ type: 'DROP', target: 'rope' })).toEqual(refusal);
    const give: Action = { type: 'GIVE', payload: { item: 'rope' } };
    expect(refusalOf(give, declarationsFrom([declare({ type: 'GIVE' })]))).toBeNull();
    expect(refusalOf(give, declarationsFrom([declare({ type: 'GIVE', takes: 'item' })]))).toEqual(refusal);
    expect(checkAction(give, situationOf(npcState, {}, 'x', null)).refusal).toBeNull();
  });

  it('has a payload as it is declared, and nothing beside it [5.12o]', () => {
    expect(codeOf({ type: 'SELL', target: 'x', reason: 'y', confidence: 1, payload: { price: 1 } })).toBeUndefined();
    expect(codeOf({ type: 'SELL', payload: { price: '1' } })).toBe('PAYLOAD_INVALID');
    expect(codeOf({ type: 'SELL', price: 0, payload: { price: 1 } })).toBe('PAYLOAD_INVALID');
    expect(codeOf({ type: 'SHOUT', words: 'x', payload: 5 })).toBeUndefined();
    expect(ask({ type: 'SELL', payload: { price: '1' } })).toMatchObject({
      reason: 'The payload of SELL is not valid: price must be a number.',
      details: { type: 'SELL', pointer: '/price', problem: 'must be a number' },
    });
    expect(ask({ type: 'SELL', price: 0, payload: { price: 1 } })).toMatchObject({
      reason: 'The payload of SELL is not valid: it does not hold "price", which is beside it.',
    });
  });

  it('is checked by POST /bridge/validate, and then by nothing else [5.12q]', () => {
    expect(ask({ type: 'WAVE', target: 'guest' }, around)).toMatchObject({ valid: true, code: null });
    expect(ask({ type: 'WAVE', target: 'ghost' }, { ...around, constraints: { allowedActions: [] } })).toMatchObject({
      valid: false,
      code: 'TARGET_NOT_FOUND',
      reason: 'There is no entity "ghost" here.',
      details: { target: 'ghost', entities: ['guest'] },
      checks: [{ brRuleId: 'core.actions', passed: false }],
    });
    expect(ask({ type: 'HAND_OVER', payload: { item: 'crown' } })).toMatchObject({ code: 'ITEM_NOT_IN_INVENTORY' });
    const passed = ask({ type: 'SHOUT' }).checks.map(({ brRuleId }) => brRuleId);
    expect(passed).toEqual(['core.resources', 'core.constraints', 'core.actions']);
  });

  it.each<[string, string, string | undefined]>([
    ['SELLL', 'This NPC cannot SELLL. Did you mean SELL?', 'SELL'],
    ['handover', 'This NPC cannot HANDOVER. Did you mean HAND_OVER?', 'HAND_OVER'],
    ['SELL_ITEM', 'This NPC cannot SELL_ITEM. Did you mean SELL?', 'SELL'],
    ['GIVE', 'This NPC cannot GIVE.', undefined],
    ['CONSTRUCTOR', 'This NPC cannot CONSTRUCTOR.', undefined],
  ])('has a type that the set declares: not %s [5.12m]', (type, reason, meant) => {
    const answer = ask({ type, payload: { item: 'rope' } });
    const { details } = answer;
    expect(answer).toMatchObject({ valid: false, code: 'ACTION_UNKNOWN', reason, correctedAction: null, checks: [] });
    expect([details['meant'], (details['actions'] as string[]).slice(0, 3)]).toEqual([
      meant,
      ['SPEAK', 'IDLE', 'WAVE'],
    ]);
    const rules = aRuleset([{ ruleAction: 'ALLOW *' }]);
    expect(ask({ type }, {}, { rulesetRules: rules.rulesetRules })).toMatchObject({ code: 'ACTION_UNKNOWN' });
  });

  it('may be anything in a set that declares nothing, and only SPEAK or IDLE in one with an empty list [5.12b]', () => {
    expect(ask({ type: 'HAND_OVER' }, {}, { actions: undefined })).toMatchObject({
      valid: true,
      checks: [{ brRuleId: 'core.resources' }, { brRuleId: 'core.constraints' }],
    });
    expect(ask({ type: 'HAND_OVER' }, {}, { actions: [] })).toMatchObject({ code: 'ACTION_UNKNOWN' });
    expect(ask({ type: 'IDLE' }, {}, { actions: [] })).toMatchObject({ valid: true });
  });

  it('leaves room in the record for all checks, even if each refuses it', () => {
    const name = '\u0001'.repeat(200);
    const list = Array.from({ length: 60 }, (_, at) => `${String(at)}${name}`);
    const all = declarationsFrom([declare({ type: 'ATTACK', takes: 'item' })]);
    const context = {
      worldState: { entities: list },
      constraints: { forbiddenActions: ['ATTACK'], allowedActions: list },
    };
    const { checks } = checkAction(
      { type: 'ATTACK', target: name, payload: { item: name } },
      situationOf({ inventory: list, hp: 0 }, context, '', all),
    );
    expect(checks.filter(({ passed }) => !passed)).toHaveLength(4);
    expect(jsonBytes(checks)).toBeLessThanOrEqual(CHECKS_BYTES);
  });
});
