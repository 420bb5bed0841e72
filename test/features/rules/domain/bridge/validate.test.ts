import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listBridgeRules } from '../../../../../src/features/rules/domain/bridge/rule-list.js';
import { validateAction, type BridgeQuestion } from '../../../../../src/features/rules/domain/bridge/validate.js';
import type { Json } from '../../../../../src/kernel/base/json.js';
import { aRuleset } from '../../../../support/rules.js';

const anyRuleset = aRuleset([]);
const ask = (question: Partial<BridgeQuestion>) =>
  validateAction({
    action: { type: 'IDLE' },
    context: {},
    recorded: null,
    facts: {},
    ruleset: anyRuleset,
    patternsHeld: [],
    ...question,
  });

const refusals: readonly [title: string, action: Json, context: Json, code: string][] = [
  ['an action without a type', {}, {}, 'ACTION_TYPE_MISSING'],
  ['an action with an empty type', { type: ' ' }, {}, 'ACTION_TYPE_MISSING'],
  ['an action that is not an object', 5, {}, 'ACTION_TYPE_MISSING'],
  ['a type that is not an upper-snake word', { type: 'I attack him!' }, {}, 'ACTION_TYPE_INVALID'],
  ['a move without a destination', { type: 'MOVE' }, {}, 'MOVE_TARGET_MISSING'],
  ['a move with only x', { type: 'MOVE', payload: { x: 1 } }, {}, 'MOVE_TARGET_MISSING'],
  ['a move with coordinates as text', { type: 'MOVE', payload: { x: '1', y: '2' } }, {}, 'MOVE_TARGET_MISSING'],
  [
    'a move beyond the bounds',
    { type: 'MOVE', payload: { x: 11, y: 0 } },
    { worldState: { bounds: { minX: 0, maxX: 10, minY: 0, maxY: 10 } } },
    'OUT_OF_BOUNDS',
  ],
  [
    'a move beyond bounds given by corners',
    { type: 'MOVE', x: 0, y: -1 },
    { worldState: { bounds: { min: { x: 0, y: 0 }, max: { x: 5, y: 5 } } } },
    'OUT_OF_BOUNDS',
  ],
  [
    'a move beyond bounds given by ranges',
    { type: 'MOVE', x: 6, y: 0 },
    { worldState: { bounds: { x: [0, 5], y: [0, 5] } } },
    'OUT_OF_BOUNDS',
  ],
  [
    'a move beyond a size',
    { type: 'MOVE', target: 'sea', x: 3, y: 9 },
    { worldState: { bounds: { width: 8, height: 8 } } },
    'OUT_OF_BOUNDS',
  ],
  [
    'an attack on an absent entity',
    { type: 'ATTACK', target: 'orc' },
    { worldState: { entities: ['elf'] } },
    'TARGET_NOT_FOUND',
  ],
  [
    'an attack without a target when entities are known',
    { type: 'ATTACK' },
    { worldState: { entities: [] } },
    'TARGET_NOT_FOUND',
  ],
  ['an interaction without a target', { type: 'INTERACT' }, {}, 'TARGET_MISSING'],
  ['empty speech', { type: 'SPEAK', payload: { text: ' ' } }, {}, 'SPEECH_EMPTY'],
  ['an act without hit points', { type: 'WAVE' }, { npcState: { hp: 0 } }, 'HP_DEPLETED'],
  ['a spell without mana', { type: 'CAST' }, { npcState: { mana: 0 } }, 'MANA_INSUFFICIENT'],
  [
    'a spell that costs too much',
    { type: 'CAST', payload: { cost: 5 } },
    { npcState: { mana: 4 } },
    'MANA_INSUFFICIENT',
  ],
  [
    'using an item that is not owned',
    { type: 'USE', payload: { item: 'key' } },
    { npcState: { inventory: ['rope'] } },
    'ITEM_NOT_IN_INVENTORY',
  ],
  [
    'using a target that is not owned',
    { type: 'USE', target: 'key' },
    { npcState: { inventory: [] } },
    'ITEM_NOT_IN_INVENTORY',
  ],
  [
    'giving an item that is not owned',
    { type: 'GIVE', target: 'bob', item: 'key' },
    { npcState: { inventory: ['rope'] } },
    'ITEM_NOT_IN_INVENTORY',
  ],
  [
    'trading an item that is used up',
    { type: 'TRADE', payload: { items: ['rope', 'key'] } },
    { npcState: { inventory: [{ id: 'rope' }, { id: 'key', quantity: 0 }] } },
    'ITEM_NOT_IN_INVENTORY',
  ],
  [
    'giving from an empty pile',
    { type: 'GIVE', item: 'coin' },
    { npcState: { inventory: { coin: 0 } } },
    'ITEM_NOT_IN_INVENTORY',
  ],
  [
    'a type that is not allowed',
    { type: 'DANCE' },
    { constraints: { allowedActions: ['SPEAK'] } },
    'ACTION_NOT_ALLOWED',
  ],
  ['a forbidden type', { type: 'DANCE' }, { constraints: { forbiddenActions: ['dance'] } }, 'ACTION_FORBIDDEN'],
];

const permissions: readonly [title: string, action: Json, context: Json][] = [
  ['a move to a target', { type: 'MOVE', target: 'door' }, { worldState: { bounds: { width: 1, height: 1 } } }],
  ['a move to a position in the payload', { type: 'MOVE', payload: { x: 1, y: 2 } }, {}],
  ['a move to a position on the action', { type: 'MOVE', x: 1, y: 2 }, {}],
  [
    'a move to the edge of the bounds',
    { type: 'MOVE', x: 10, y: 0 },
    { worldState: { bounds: { minX: 0, maxX: 10 } } },
  ],
  ['an attack on a present entity', { type: 'ATTACK', target: 'orc' }, { worldState: { entities: ['orc'] } }],
  ['an attack on a present object', { type: 'ATTACK', target: 'o1' }, { worldState: { entities: [{ id: 'o1' }] } }],
  ['an attack by name', { type: 'ATTACK', target: 'Grom' }, { worldState: { entities: [{ id: 'o1', name: 'Grom' }] } }],
  ['an attack with unknown entities', { type: 'ATTACK', target: 'orc' }, {}],
  ['an interaction with a target', { type: 'INTERACT', target: 'lever' }, {}],
  ['words in the payload', { type: 'SPEAK', payload: { text: 'hello' } }, {}],
  ['words on the action', { type: 'SPEAK', text: 'hello' }, {}],
  ['an act with hit points', { type: 'WAVE' }, { npcState: { hp: 1 } }],
  ['an act with unknown hit points', { type: 'WAVE' }, { npcState: {} }],
  ['a spell with enough mana', { type: 'CAST', payload: { cost: 4 } }, { npcState: { mana: 4 } }],
  ['another act without mana', { type: 'WAVE' }, { npcState: { mana: 0 } }],
  ['using an owned item', { type: 'USE', payload: { item: 'key' } }, { npcState: { inventory: ['key'] } }],
  [
    'giving an item that is owned as an object',
    { type: 'GIVE', item: 'Key' },
    { npcState: { inventory: [{ id: 'k', name: 'Key' }] } },
  ],
  ['giving from a pile', { type: 'GIVE', item: 'coin' }, { npcState: { inventory: { coin: 3 } } }],
  ['using with an unknown inventory', { type: 'USE', payload: { item: 'key' } }, {}],
  [
    'using an object of the world',
    { type: 'USE', target: 'lever' },
    { npcState: { inventory: [] }, worldState: { entities: ['lever'] } },
  ],
  ['an allowed type', { type: 'speak', text: 'x' }, { constraints: { allowedActions: ['SPEAK'] } }],
  ['aliases', { gaType: 'MOVE', actionTarget: 'door', actionReason: 'why' }, {}],
  ['an empty context', { type: 'WAVE' }, null],
];

describe('the bridge', () => {
  it.each(refusals)('refuses %s [4.1b, 4.1c, 4.2b]', (_, action, context, code) => {
    const answer = ask({ action, context });
    expect(answer).toMatchObject({ valid: false, code, correctedAction: null });
    expect(answer.reason).toMatch(/\w/);
  });

  it.each(permissions)('permits %s [4.1a, 4.2b]', (_, action, context) => {
    expect(ask({ action, context })).toMatchObject({
      valid: true,
      code: null,
      reason: null,
      correctedAction: null,
      details: {},
    });
  });

  it('names the item and the inventory when the item is not owned [4.2b]', () => {
    const answer = ask({
      action: { type: 'USE', payload: { item: 'key' } },
      context: { npcState: { inventory: ['rope', { id: 'coin' }] } },
    });
    expect(answer.details).toEqual({ item: 'key', inventory: ['rope', 'coin'] });
  });

  it('truncates speech that is too long in the corrected action [4.1a, 4.2c]', () => {
    expect(ask({ action: { type: 'SPEAK', text: 'x'.repeat(2_000) } }).correctedAction).toBeNull();
    const { valid, correctedAction } = ask({
      action: { type: 'SPEAK', payload: { text: 'x'.repeat(2_001), tone: 'low' } },
    });
    expect(valid).toBe(true);
    expect(correctedAction).toEqual({
      type: 'SPEAK',
      payload: { text: `${'x'.repeat(1_999)}…`, tone: 'low' },
    });
  });

  it('uses the recorded state for members that the context omits [4.1d]', () => {
    const recorded = { hp: 0, inventory: ['key'] };
    expect(ask({ action: { type: 'WAVE' }, recorded })).toMatchObject({ code: 'HP_DEPLETED' });
    expect(ask({ action: { type: 'USE', item: 'key' }, recorded, context: { npcState: { hp: 3 } } })).toMatchObject({
      valid: true,
    });
  });

  it('checks only the shape without a ruleset [4.2a]', () => {
    const context = { npcState: { hp: 0 } };
    expect(ask({ action: { type: 'MOVE' }, context, ruleset: null })).toMatchObject({ valid: true, checks: [] });
    expect(ask({ action: {}, context, ruleset: null })).toMatchObject({ code: 'ACTION_TYPE_MISSING' });
  });

  it('applies the prohibitions of the tenant’s default [4.2a]', () => {
    const ruleset = aRuleset([
      { ruleCondition: [['relation', 'friend']], ruleAction: 'FORBID ATTACK', ruleReason: 'Not a friend.' },
    ]);
    const action = { type: 'ATTACK', target: 'bob' };
    expect(ask({ action, ruleset, context: { npcState: { relation: 'friend' } } })).toMatchObject({
      valid: false,
      code: 'RULE_REFUSED',
      reason: 'Not a friend.',
      details: { drRuleId: 'r1', ruleReason: 'Not a friend.' },
    });
    expect(ask({ action, ruleset })).toMatchObject({ valid: true });
  });

  it('records every check that affects the action', () => {
    expect(ask({ action: { type: 'MOVE' } }).checks).toEqual([
      {
        brRuleId: 'core.movement',
        passed: false,
        code: 'MOVE_TARGET_MISSING',
        reason: expect.any(String),
        details: {},
      },
      { brRuleId: 'core.resources', passed: true },
      { brRuleId: 'core.constraints', passed: true },
    ]);
  });

  it('answers any question, and the same question always the same', () => {
    const json = fc.jsonValue() as fc.Arbitrary<Json>;
    const action = fc.oneof(
      json,
      fc.record({
        type: fc.constantFrom('MOVE', 'ATTACK', 'SPEAK', 'CAST', 'USE', 'GIVE', 'INTERACT'),
        target: json,
        payload: json,
        item: json,
      }),
    );
    const part = fc.oneof(json, fc.record({ bounds: json, entities: json, inventory: json, hp: json, mana: json }));
    const context = fc.oneof(json, fc.record({ npcState: part, worldState: part, constraints: part }));
    fc.assert(
      fc.property(action, context, (asked, around) => {
        const answer = ask({ action: asked, context: around });
        expect(answer.valid).toBe(answer.code === null);
        expect(ask({ action: asked, context: around })).toEqual(answer);
      }),
    );
  });
});

describe('the list of rules', () => {
  const rules = listBridgeRules([
    aRuleset([
      { ruleAction: 'FORBID ATTACK', ruleReason: 'No fights.', ruleName: 'peace' },
      { ruleAction: 'FLEE', ruleName: 'flight' },
      { ruleName: 'n', ruleDescription: 'd', ruleActionTypes: ['MOVE', 'CAST'] },
      { ruleAction: 'be kind' },
    ]),
  ]);

  it('begins with the rules of the world [4.3a]', () => {
    const ids = rules.map(({ brRuleId }) => brRuleId);
    expect(ids.slice(0, 6)).toEqual([
      'core.movement',
      'core.attack',
      'core.interact',
      'core.speak',
      'core.resources',
      'core.inventory',
    ]);
    expect(ids.findLastIndex((id) => id.startsWith('core.'))).toBeLessThan(ids.indexOf('test/r1'));
  });

  it('shows registered rules under their set, with the actions they affect [2.8l, 4.3a, 5.1d]', () => {
    expect(rules.slice(-4)).toEqual([
      { brRuleId: 'test/r1', ruleDescription: 'No fights.', affectedActions: ['ATTACK'] },
      { brRuleId: 'test/r2', ruleDescription: 'flight', affectedActions: ['FLEE'] },
      { brRuleId: 'test/r3', ruleDescription: 'd', affectedActions: ['MOVE', 'CAST'] },
      { brRuleId: 'test/r4', ruleDescription: '', affectedActions: [] },
    ]);
  });
});
