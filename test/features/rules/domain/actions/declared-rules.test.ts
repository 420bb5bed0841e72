import { describe, expect, it } from 'vitest';

import { normaliseRuleset } from '../../../../../src/features/rules/domain/normalise.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../../src/kernel/base/rejection.js';
import { allWarnings, allSlices } from '../../../../support/rules.js';

const SELL = {
  type: 'SELL',
  description: 'x',
  payload: {
    type: 'object',
    properties: {
      price: { type: 'number' },
      items: {
        type: 'array',
        items: { type: 'object', properties: { piece: { type: 'string' } }, additionalProperties: false },
      },
      gift: { type: 'object' },
    },
    required: ['price'],
    additionalProperties: false,
  },
};
const sizes = { type: 'array', items: { type: 'number' }, minItems: 1 };
const LISTS = {
  sizes,
  pieces: { type: 'array', minItems: 1 },
  nested: { type: 'array', items: { ...sizes, minItems: 0 }, minItems: 1 },
  empty: { ...sizes, minItems: 0 },
  lines: {
    type: 'array',
    items: {
      type: 'object',
      properties: { piece: { type: 'number' }, weight: { type: 'number' } },
      required: ['piece'],
    },
    minItems: 1,
  },
};
/** Sells lists, too. */
const SELL_LISTS = {
  ...SELL,
  payload: {
    ...SELL.payload,
    properties: { ...SELL.payload.properties, ...LISTS },
    required: ['price', ...Object.keys(LISTS)],
  },
};
const OTHERS = [
  { type: 'ATTACK', description: 'x', target: 'entity' },
  { type: 'KNEEL', description: 'x', target: 'none' },
  { type: 'HAND_OVER', description: 'x', takes: 'item' },
  { type: 'DROP', description: 'x', target: 'item', takes: 'item' },
  { type: 'SHOUT', description: 'x' },
];
const actions: readonly Json[] = [SELL, ...OTHERS];
const registered = (rule: JsonObject, declared: Json = actions, ruleState: Json = null) =>
  allSlices(normaliseRuleset({ actions: declared, ruleState, rulesetRules: [{ drRuleId: 'r', ...rule }] }, () => 's'))
    .result;
const problemsOf = (rule: JsonObject, declared?: Json): readonly unknown[] => {
  const content = registered(rule, declared);
  if (!(content instanceof Rejection)) return [];
  const { problems } = content.details as {
    problems: { drRuleId: string; pointer: string; message: string; meant?: string }[];
  };
  return problems.map(({ drRuleId, pointer, message, meant }) => [drRuleId, pointer, meant ?? message]);
};
const warnings = (rule: JsonObject, declared?: Json, ruleState?: Json): readonly string[] => {
  const content = registered(rule, declared, ruleState);
  if (content instanceof Rejection) throw content;
  return allWarnings(content).map(({ message }) => message);
};

describe('a rule of a set that declares its actions', () => {
  it.each<[string, string, string]>([
    ['FORBID SELLL', 'ruleAction', 'FORBID SELL'],
    ['forbid selll, KNEL', 'ruleAction', 'forbid SELL, KNEEL'],
    ['HANDOVER', 'ruleAction', 'HAND_OVER'],
    ['ALLOW SELL_ITEM, SPEAK', 'ruleAction', 'ALLOW SELL, SPEAK'],
    ['ALLOW SELL, DANCE', 'ruleAction', '"DANCE" is not among the declared actions.'],
    ['FORBID CONSTRUCTOR', 'ruleAction', '"CONSTRUCTOR" is not among the declared actions.'],
  ])('names only those, otherwise it is refused: %s [5.12i]', (ruleAction, member, meant) => {
    expect(problemsOf({ ruleAction })).toEqual([['r', `/rulesetRules/0/${member}`, meant]]);
    expect(problemsOf({ ruleAction }, null)).toEqual([]);
  });

  it.each<[string, string]>([
    ['SELLL', 'SELL'],
    ['!=SELLL|ATTAK', '!=SELL|ATTACK'],
    ['any(SHOUTS)', 'any(SHOUT)'],
    ['"SELLL"', '"SELL"'],
    ['DANCE', '"DANCE" is not among the declared actions.'],
  ])('compares only with those, otherwise it is refused: %s [5.12i]', (value, meant) => {
    const rule = {
      ruleCondition: [
        ['context.a', '1'],
        ['action.type', value],
      ],
      ruleAction: 'FORBID *',
    };
    expect(problemsOf(rule)).toEqual([['r', '/rulesetRules/0/ruleCondition/1/1', meant]]);
    expect(problemsOf(rule, null)).toEqual([]);
  });

  it('compares only with those in CEL, too [5.12i]', () => {
    const rule = { ruleCondition: [['cel', "action.type in ['SELL', 'ATTAK']"]], ruleAction: 'FORBID *' };
    const meant = "action.type in ['SELL', 'ATTACK']";
    expect(problemsOf(rule)).toEqual([['r', '/rulesetRules/0/ruleCondition/0/1', meant]]);
    expect(problemsOf(rule, null)).toEqual([]);
  });

  it('may name all declared ones, SPEAK, IDLE and every action [5.12b, 5.12i]', () => {
    for (const ruleAction of ['FORBID *', 'ALLOW SPEAK, IDLE, SELL', 'KNEEL', 'Be kind.', ''])
      expect(problemsOf({ ruleAction, ruleCondition: [['action.type', 'IDLE|SELL']] })).toEqual([]);
  });

  it.each<[string, JsonObject, string, string]>([
    ['a target where there is none', { ruleAction: 'KNEEL', ruleTarget: 'king' }, 'ruleTarget', 'has no target'],
    [
      'a replacement without a target',
      { ruleAction: 'ATTACK', ruleOnBreak: 'replace' },
      'ruleOnBreak',
      'name it in ruleTarget',
    ],
    [
      'a replacement that is aimed at nothing',
      { ruleAction: 'REQUIRE KNEEL, ATTACK', ruleTarget: 'king', ruleOnBreak: 'replace' },
      'ruleTarget',
      'has no target',
    ],
    ['a replacement without a payload', { ruleAction: 'SELL', ruleOnBreak: 'replace' }, 'ruleOnBreak', 'payload.price'],
    ['a replacement without an item', { ruleAction: 'HAND_OVER', ruleOnBreak: 'replace' }, 'ruleOnBreak', 'an item'],
  ])('is refused if it can never get what it requires: %s [5.12j]', (_, rule, member, message) => {
    const content = registered(rule);
    expect(content).toMatchObject({
      details: {
        problems: [{ pointer: `/rulesetRules/0/${member}`, message: expect.stringContaining(message) as string }],
      },
    });
    expect(problemsOf(rule, null)).toEqual([]);
  });

  it.each<JsonObject>([
    { ruleAction: 'REQUIRE KNEEL, ATTACK', ruleTarget: 'king' },
    { ruleAction: 'ATTACK', ruleTarget: 'king', ruleOnBreak: 'replace' },
    { ruleAction: 'DROP', ruleTarget: 'rope', ruleOnBreak: 'replace' },
    { ruleAction: 'KNEEL', ruleOnBreak: 'replace' },
    { ruleAction: 'SELL' },
    { ruleAction: 'ATTACK' },
  ])('may require what is possible: %j [5.12j]', (rule) => {
    expect(problemsOf(rule)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['FORBID SELL', 'action.payload.prise', 'Perhaps price was meant.'],
    ['ALLOW SELL', 'action.payload.items.peice', 'Perhaps piece was meant.'],
    ['ALLOW SELL', 'action.payload.items[x].peice', 'Perhaps piece was meant.'],
    ['FORBID SELL', 'action.payload.price.amount', 'No declared payload has "amount"'],
    ['FORBID *', 'action.payload.prise', 'Perhaps price was meant.'],
    ['FORBID SELL', 'cel', 'Perhaps price was meant.'],
  ])('gets a warning if its payload cannot have what it reads: %s if %s [5.12k]', (ruleAction, key, warning) => {
    const rule = {
      ruleAction,
      ruleCondition: [
        [key, key === 'cel' ? 'action.payload.prise == 5' : ruleAction.startsWith('ALLOW') ? 'all(5)' : '5'],
      ],
    };
    expect(warnings(rule)).toEqual([expect.stringContaining(warning)]);
    expect(warnings(rule, null)).toEqual([]);
  });

  it.each([
    ['FORBID SELL', 'action.payload.price'],
    ['FORBID SELL', 'action.payload.items.0.piece'],
    ['FORBID SELL', 'action.payload.gift.anything'],
    ['FORBID SELL, SHOUT', 'action.payload.words'],
    ['FORBID SHOUT', 'action.payload.prise'],
    ['FORBID SELL', 'action.target'],
  ])('gets none if it can: %s if %s [5.12k]', (ruleAction, key) => {
    expect(warnings({ ruleAction, ruleCondition: [[key, '5']] })).toEqual([]);
  });

  it.each([
    ['FORBID SELL', 'action.payload.price', 0],
    ['FORBID SELL', 'action.payload.items.piece', 1],
    ['FORBID SELL', 'action.payload.gift.worth', 1],
    ['FORBID SELL, SHOUT', 'action.payload.price', 1],
    ['FORBID SELL, SPEAK', 'action.payload.price', 1],
    ['FORBID *', 'action.payload.price', 0],
    ['FORBID *', 'action.payload.gift.worth', 1],
    ['FORBID *', 'action.payload.items.piece', 1],
    ['FORBID SELL', 'action.payload.lines.piece', 0],
    ['FORBID SELL', 'action.payload.lines.0.piece', 0],
    ['FORBID SELL', 'action.payload.lines.1.piece', 1],
    ['FORBID SELL', 'action.payload.lines.weight', 1],
    ['FORBID SELL', 'action.payload.sizes', 0],
    ['FORBID SELL', 'action.payload.pieces', 1],
    ['FORBID SELL', 'action.payload.nested', 1],
    ['FORBID SELL', 'action.payload.empty', 1],
  ])('gets a warning if a model may leave out what it reads: %s if %s [5.13k]', (ruleAction, key, warned) => {
    const rule = { ruleAction, ruleCondition: [[key, '<5']] };
    expect(warnings(rule, [SELL_LISTS, ...OTHERS])).toHaveLength(warned);
    expect(warnings(rule, null)).toHaveLength(1);
  });

  it('gets a warning whose remedy forbids only actions that have what it reads [5.13k]', () => {
    const optional = { ...SELL, payload: { ...SELL.payload, required: [] } };
    const rule = { ruleAction: 'FORBID *', ruleCondition: [['action.payload.price', '<5']] };
    expect(warnings(rule, [optional, ...OTHERS])).toEqual([
      'A model may leave out action.payload.price, and then the rule forbids nothing. If it should forbid then too, write FORBID SELL, with !|<5; or let an ALLOW SELL with ["action.payload.price","all(>=5)"] above a FORBID SELL without conditions decide.',
    ]);
    const rulesetRules = [rule, { ruleAction: 'FORBID SELL', ruleCondition: [['action.payload.price', '!']] }];
    const content = allSlices(normaliseRuleset({ actions: [optional, ...OTHERS], rulesetRules }, () => 's')).result;
    if (content instanceof Rejection) throw content;
    expect(allWarnings(content)).toEqual([]);
  });

  it.each([
    ['FORBID SELL', 'price', 'action.payload.price'],
    ['ALLOW SELL', 'payload.price', 'action.payload.price'],
    ['ALLOW SELL', 'action.price', 'action.payload.price'],
    ['ALLOW SELL', 'action.items[x].piece', 'action.payload.items[x].piece'],
    ['FORBID SHOUT', 'price', 'action.payload.price'],
  ])('gets one warning if a member of the payload was probably meant: %s if %s [5.12k]', (ruleAction, key, meant) => {
    const rule = { ruleAction, ruleCondition: [[key, '>=30']] };
    // The advice to declare a member of the state would be the opposite.
    expect(warnings(rule)).toEqual([expect.stringContaining(`Perhaps ${meant} was meant`)]);
    expect(warnings(rule, null).join()).not.toContain(meant);
  });

  it.each([
    ['FORBID SELL', 'state.price'],
    ['FORBID SELL', 'state.payload.price'],
    ['FORBID SELL', 'weight'],
    ['FORBID SELL', 'payload'],
    ['FORBID SELL', 'price.amount'],
    ['ALLOW SELL, SHOUT', 'action.price'],
    ['ALLOW SELL', 'action.target'],
  ])('gets no such warning if something else can be meant: %s if %s [5.12k]', (ruleAction, key) => {
    expect(warnings({ ruleAction, ruleCondition: [[key, '>=30']] }).join()).not.toContain('Perhaps');
  });

  it('gets no such warning about a member that a state rule declares [5.12k]', () => {
    const rule = { ruleAction: 'FORBID SELL', ruleCondition: [['price', '>=30']] };
    expect(warnings(rule, actions, [{ path: 'price', writer: 'game' }])).toEqual([]);
  });

  it('gets the first warnings about members of the state, and one about the others [5.8i, 5.12k]', () => {
    const registered = (key: (at: number) => string, declared: Json) => {
      const rulesetRules = Array.from({ length: 35 }, (_, at) => ({
        ...{ drRuleId: `r${at}`, ruleAction: 'FORBID SELL', ruleCondition: [[key(at), '1']] },
      }));
      const content = allSlices(normaliseRuleset({ actions: declared, rulesetRules }, () => 's')).result;
      if (content instanceof Rejection) throw content;
      const found = allWarnings(content);
      return [found.length, found.at(-1)?.message];
    };
    expect(registered(() => 'price', actions)).toEqual([
      33,
      'Rules read 3 more members of the state that were probably not meant.',
    ]);
    expect(registered((at) => `trust${at}`, null)).toEqual([
      33,
      'Rules read 3 more members of the state that the model may change.',
    ]);
  });

  it('gets a warning that says how many rules were not looked at, after so many others [5.12k]', () => {
    const misread = { ruleAction: 'FORBID SELL', ruleCondition: [['action.payload.prise', '5']] };
    const rulesetRules = Array.from({ length: 34 }, (_, at) => ({ drRuleId: `r${at}`, ...misread }));
    const content = allSlices(normaliseRuleset({ actions, rulesetRules }, () => 's')).result;
    if (content instanceof Rejection) throw content;
    const found = allWarnings(content);
    expect(found).toHaveLength(33);
    expect(found.at(-1)).toEqual({
      drRuleId: '',
      message: 'There are so many warnings about payloads that 2 more rules were not looked at.',
    });
  });

  it('gets no warning of a list where none can be [5.5n, 5.12k]', () => {
    const lists = (ruleAction: string, key: string, declared?: Json) =>
      warnings({ ruleAction, ruleCondition: [[key, '>=5']] }, declared).length;
    expect(lists('ALLOW SELL', 'action.payload.price')).toBe(0);
    expect(lists('ALLOW SELL', 'action.payload.price', null)).toBe(1);
    expect(lists('ALLOW *', 'action.payload.price')).toBe(1);
    expect(lists('ALLOW SELL, SHOUT', 'action.payload.price')).toBe(1);
    expect(lists('ALLOW SELL', 'action.payload.items.piece')).toBe(1);
    expect(lists('ALLOW SELL', 'action.payload.gift.worth')).toBe(1);
    expect(lists('ALLOW SELL, SHOUT', 'action.payload.price')).toBe(1);
  });
});
