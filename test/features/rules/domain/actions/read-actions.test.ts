import { describe, expect, it } from 'vitest';

import { declarationsOf } from '../../../../../src/features/rules/domain/actions/action-declaration.js';
import { readActions } from '../../../../../src/features/rules/domain/actions/read-actions.js';
import { normaliseRuleset } from '../../../../../src/features/rules/domain/normalise.js';
import { memberWarnings } from '../../../../../src/features/rules/domain/warnings.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../../src/kernel/base/rejection.js';
import { allSlices } from '../../../../support/rules.js';

const problemsOf = (...actions: readonly Json[]) =>
  readActions(actions).problems.map(({ pointer, message, meant }) => [pointer, meant ?? message]);
const normalised = (body: JsonObject) => allSlices(normaliseRuleset(body, () => 'r')).result;
const some = expect.any(String) as string;

const SELL = {
  type: 'SELL',
  description: 'Sell one thing.',
  target: 'none',
  payload: {
    type: 'object',
    properties: { item: { enum: ['rope', 7, true] }, price: { type: 'number', minimum: 0 } },
    required: ['item'],
    additionalProperties: false,
  },
} as const;
const HAND_OVER = { type: 'HAND_OVER', description: 'Give it away.', takes: 'item' } as const;
const described = (members: JsonObject): JsonObject => ({ type: 'A', description: 'x', ...members });
const schema = (payload: JsonObject): JsonObject => described({ payload: { type: 'object', ...payload } });
const property = (one: Json): JsonObject => schema({ properties: { p: one } });

describe('the declared actions of a set', () => {
  it('are read, without what is null or empty, and stored as they were sent [5.12a, 5.12d, 5.12e, 5.12f]', () => {
    expect(readActions([SELL, HAND_OVER])).toEqual({ actions: [SELL, HAND_OVER], problems: [] });
    expect(readActions([described({ target: null, payload: null, takes: '' })]).actions).toEqual([described({})]);
    expect(normalised({ actions: [SELL] })).toMatchObject({ grammar: 2, actions: [SELL] });
  });

  it('are all actions without a list, and SPEAK and IDLE with every list [5.12b]', () => {
    for (const none of [undefined, null, '']) {
      expect(readActions(none)).toEqual({ actions: null, problems: [] });
      expect(declarationsOf(normalised({ actions: none ?? null }) as object)).toBeNull();
    }
    const typesOf = (actions: Json) => [...(declarationsOf(normalised({ actions }) as object)?.keys() ?? [])];
    expect(typesOf([])).toEqual(['SPEAK', 'IDLE']);
    expect(typesOf([HAND_OVER, { type: 'SPEAK', description: 'Sing.' }])).toEqual(['SPEAK', 'IDLE', 'HAND_OVER']);
  });

  it.each<[string, Json, readonly [string, string]]>([
    ['a list of types', 'pick up', ['/0', '{"type": "PICK_UP", "description": …}']],
    ['a number', 5, ['/0', 'Must be an object with a type and a description.']],
    ['no description', { type: 'A' }, ['/0/description', 'Is missing.']],
    ['no type', { description: 'x' }, ['/0/type', 'Is missing.']],
    ['a description without words', described({ description: ' ' }), ['/0/description', some]],
    ['a long description', described({ description: 'x'.repeat(501) }), ['/0/description', some]],
    ['a type in lower case', described({ type: 'pick up' }), ['/0/type', 'PICK_UP']],
    ['a type that is none', described({ type: 'A!' }), ['/0/type', some]],
    ['a misspelt member', described({ descripton: 'x' }), ['/0/descripton', 'description']],
    ['another name of a member', described({ parameters: {} }), ['/0/parameters', 'payload']],
    ['an unknown member', described({ cooldown: 3 }), ['/0/cooldown', 'There is no member "cooldown".']],
    ['constructor', described({ constructor: 'item' }), ['/0/constructor', some]],
    ['another kind of target', described({ target: 'player' }), ['/0/target', 'entity']],
    ['a misspelt kind of target', described({ target: 'Entitty' }), ['/0/target', 'entity']],
    ['a target of no kind', described({ target: 'constructor' }), ['/0/target', some]],
    [
      'something else to take',
      described({ takes: 'gold' }),
      ['/0/takes', expect.stringMatching(/^Only "item" is known: the action gives away/) as string],
    ],
    [
      'an item that nothing can name',
      described({ ...SELL, takes: 'item', payload: { ...SELL.payload, properties: {}, required: [] } }),
      ['/0/takes', expect.stringContaining('item, itemId') as string],
    ],
  ])('are refused with %s [5.12a, 5.12c, 5.12d, 5.12e]', (_, action, problem) => {
    expect(problemsOf(action)).toEqual([problem]);
  });

  it.each<[string, JsonObject, readonly [string, string]]>([
    ['a pattern', property({ type: 'string', pattern: '(a+)+$' }), ['/properties/p/pattern', some]],
    ['a format', property({ type: 'string', format: 'email' }), ['/properties/p/format', some]],
    ['a reference', property({ $ref: '#' }), ['/properties/p/$ref', some]],
    ['a misspelt keyword', property({ type: 'number', minimun: 1 }), ['/properties/p/minimun', 'minimum']],
    ['a short keyword', property({ type: 'number', max: 1 }), ['/properties/p/max', 'maximum']],
    ['a misspelt type', property({ type: 'nubmer' }), ['/properties/p/type', 'number']],
    ['the type of another language', property({ type: 'int' }), ['/properties/p/type', 'integer']],
    ['several types', property({ type: ['number', 'string'] }), ['/properties/p/type', some]],
    ['the name of a type', property('number'), ['/properties/p', '{"type":"number"}']],
    ['a name with / and ~', schema({ properties: { 'a/~': 5 } }), ['/properties/a~1~0', 'Must be a schema.']],
    [
      '__proto__',
      JSON.parse(`{"payload": {"type": "object", "properties": {"__proto__": 5}}}`) as JsonObject,
      ['/properties/__proto__', 'Must be a schema.'],
    ],
    ['a limit without a type', property({ minimum: 1 }), ['/properties/p/type', 'number']],
    ['a limit of another type', property({ type: 'string', minimum: 1 }), ['/properties/p/minimum', some]],
    ['an empty range', property({ type: 'number', minimum: 2, maximum: 1 }), ['/properties/p', some]],
    ['no whole number', property({ type: 'integer', minimum: 0.5, maximum: 0.7 }), ['/properties/p', some]],
    [
      'nothing between',
      property({ type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }),
      ['/properties/p', some],
    ],
    ['an empty open range', property({ type: 'number', exclusiveMinimum: 1, maximum: 1 }), ['/properties/p', some]],
    ['an empty length', property({ type: 'string', minLength: 2, maxLength: 1 }), ['/properties/p', some]],
    ['a negative length', property({ type: 'array', minItems: -1 }), ['/properties/p/minItems', some]],
    ['a limit as text', property({ type: 'number', minimum: '1' }), ['/properties/p/minimum', some]],
    ['a value of another type', property({ type: 'string', enum: ['a', 5] }), ['/properties/p/enum/1', some]],
    ['a value out of range', property({ type: 'number', const: 5, maximum: 4 }), ['/properties/p/const', some]],
    ['a constant that is not listed', property({ enum: [1], const: 2 }), ['/properties/p/const', some]],
    ['no values', property({ enum: [] }), ['/properties/p/enum', some]],
    ['an object as a value', property({ const: {} }), ['/properties/p/const', some]],
    ['65 values', property({ enum: Array.from({ length: 65 }, (_, at) => at) }), ['/properties/p/enum', some]],
    [
      'a required member that is misspelt',
      schema({ properties: { price: {} }, required: ['prise'] }),
      ['/required/0', 'price'],
    ],
    ['a member that requires itself', property({ required: true, type: 'object' }), ['/properties/p/required', some]],
    ['a schema of the others', schema({ additionalProperties: { type: 'string' } }), ['/additionalProperties', some]],
    ['a text for false', schema({ additionalProperties: 'false' }), ['/additionalProperties', some]],
    [
      'members without properties',
      { payload: { price: 'number' } },
      ['', expect.stringContaining('properties') as string],
    ],
    ['no type', { payload: { properties: {} } }, ['/type', 'object']],
    ['a list of payloads', { payload: { type: 'array' } }, ['/type', 'object']],
    ['no schema', { payload: 'price' }, ['', some]],
  ])('are refused if the payload has %s [5.12f, 5.12g, 5.12h]', (_, action, [pointer, meant]) => {
    expect(problemsOf(described(action))).toEqual([[`/0/payload${pointer}`, meant]]);
  });

  it('are bounded in number, bytes, schemas and levels [5.12a, 5.12h]', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ type: `A${String(at)}`, description: 'x' }));
    expect(readActions(many(64)).problems).toEqual([]);
    expect(problemsOf(...many(65))).toEqual([['', 'Must have at most 64 actions.']]);
    const long = many(64).map((one) => ({ ...one, description: 'x'.repeat(300) }));
    expect(problemsOf(...long)).toEqual([['', 'Must have at most 16384 bytes of JSON.']]);
    expect(problemsOf(HAND_OVER, HAND_OVER)).toEqual([['/1/type', 'Another declaration has the same type.']]);
    expect(readActions({ type: 'A' }).problems).toEqual([{ pointer: '', message: 'Must be a list of actions.' }]);

    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}]));
    expect(problemsOf(schema({ properties: members(63) }))).toEqual([]);
    expect(problemsOf(schema({ properties: members(64) }))).toEqual([['/0/payload', 'Must have at most 64 schemas.']]);
    const nested = (levels: number): JsonObject =>
      levels === 1 ? { type: 'object' } : { type: 'object', properties: { p: nested(levels - 1) } };
    expect(problemsOf(described({ payload: nested(6) }))).toEqual([]);
    expect(problemsOf(described({ payload: nested(7) }))).toEqual([
      [`/0/payload${'/properties/p'.repeat(6)}`, 'Must have at most 6 levels.'],
    ]);
    const large = schema({ description: 'x'.repeat(4_096) });
    expect(problemsOf(large)).toEqual([['/0/payload', 'Must have at most 4096 bytes of JSON.']]);
  });

  it('are refused together with the problems of the set [5.12a]', () => {
    const refused = normalised({ actions: [{ type: 'sell' }], rulesetRules: [{ ruleAction: 'DENY SELL' }] });
    expect(refused).toBeInstanceOf(Rejection);
    expect(refused).toMatchObject({
      code: 'RULES_INVALID',
      details: {
        problems: [
          { drRuleId: '', pointer: '/actions/0/type', meant: 'SELL' },
          { drRuleId: '', pointer: '/actions/0/description' },
          { drRuleId: 'rule-1', pointer: '/rulesetRules/0/ruleAction' },
        ],
      },
    });
    expect(normalised({ action: [] })).toMatchObject({ details: { problems: [{ meant: 'actions' }] } });
  });

  it('have no effect in grammar 1, which a warning says [5.12a]', () => {
    const body = { grammar: 1, actions: [SELL], rulesetRules: [{ ruleAction: 'FORBID ANYTHING' }] };
    const content = normalised(body);
    if (content instanceof Rejection) throw content;
    expect(content).not.toHaveProperty('actions');
    expect(memberWarnings(body, content)).toEqual([
      { drRuleId: '', message: expect.stringContaining('A set of grammar 1 has no actions') as string },
    ]);
    expect(memberWarnings({ ...body, actions: null }, content)).toEqual([]);
  });
});
