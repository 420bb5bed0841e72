import { Type, type TSchema } from '@sinclair/typebox';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';

import { compileDropNulls, withNullMembers } from '../../../../src/kernel/http/guard/null-members.js';

const drop = (schema: Parameters<typeof compileDropNulls>[0], value: unknown): unknown => {
  compileDropNulls(schema)?.(value);
  return value;
};
const optional = Type.Object({ a: Type.Optional(Type.String()) });

describe('null in an optional member', () => {
  it('is removed wherever the schema names the member [1.2n]', () => {
    expect(drop(optional, { a: null, b: null })).toEqual({ b: null });
    expect(drop(Type.Object({ child: optional }), { child: { a: null } })).toEqual({ child: {} });
    expect(drop(Type.Object({ list: Type.Array(optional) }), { list: [{ a: null }, null, 1] })).toEqual({
      list: [{}, null, 1],
    });
    expect(drop(Type.Union([optional, Type.Null()]), { a: null })).toEqual({});
    expect(
      drop(Type.Intersect([optional, Type.Object({ b: Type.Optional(Type.Number()) })]), { a: null, b: null }),
    ).toEqual({});
  });

  it('is removed also if the member may be null', () => {
    const schema = Type.Object({ a: Type.Optional(Type.Union([Type.String(), Type.Null()])) });
    expect(drop(schema, { a: null })).toEqual({});
  });

  it('stays in required members and in free-form JSON [1.2n]', () => {
    expect(drop(Type.Object({ a: Type.Union([Type.String(), Type.Null()]) }), { a: null })).toEqual({ a: null });
    expect(drop(Type.Object({ free: Type.Record(Type.String(), Type.Unknown()) }), { free: { a: null } })).toEqual({
      free: { a: null },
    });
    expect(drop(Type.Unknown(), { a: null })).toEqual({ a: null });
  });

  it('stays if several object schemas are possible', () => {
    const schema = Type.Union([optional, Type.Object({ a: Type.Null(), b: Type.Optional(Type.String()) })]);
    expect(drop(schema, { a: null })).toEqual({ a: null });
  });

  it('does not affect values of another shape', () => {
    for (const value of [null, 1, 'a', [], [null]]) expect(drop(optional, value)).toEqual(value);
  });

  it('costs nothing when the schema has no optional member', () => {
    expect(compileDropNulls(Type.Object({ a: Type.String() }))).toBeNull();
  });
});

describe('the published schema', () => {
  const takes = (schema: TSchema, value: unknown): boolean =>
    new Ajv({ strict: false, validateFormats: false }).validate(withNullMembers(schema), value);

  it.each<[string, TSchema]>([
    ['a type', Type.String()],
    ['a type and bounds', Type.Integer({ minimum: 1 })],
    ['a list of values', Type.Unsafe({ type: 'string', enum: ['a', 'b'] })],
    ['one value', Type.Literal('a')],
    ['alternatives', Type.Union([Type.String(), Type.Number()])],
    ['an object', Type.Object({ b: Type.String() })],
    ['anything', Type.Unsafe({})],
    ['conditions', Type.Unsafe({ type: ['object', 'null'], allOf: [{ if: {}, then: { type: 'object' } }] })],
  ])('allows null in an optional member with %s', (_, member) => {
    const schema = Type.Object({ a: Type.Optional(member) });
    expect(takes(schema, { a: null })).toBe(true);
    expect(takes(Type.Object({ list: Type.Array(schema) }), { list: [{ a: null }] })).toBe(true);
    expect(takes(Type.Union([schema, Type.Null()]), { a: null })).toBe(true);
  });

  it('allows null nowhere else', () => {
    expect(takes(Type.Object({ a: Type.String() }), { a: null })).toBe(false);
    expect(takes(Type.Object({ a: Type.Optional(Type.Array(Type.String())) }), { a: [null] })).toBe(false);
    expect(takes(Type.Object({ a: Type.Optional(Type.String()) }), { a: 1 })).toBe(false);
    expect(takes(Type.Object({ a: Type.Optional(Type.Literal('a')) }), { a: 'b' })).toBe(false);
  });
});
