import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { checkOf } from '../../../../src/kernel/http/guard/schema-check.js';
import { MemoryText } from '../../../../src/features/memory/body-schemas.js';
import { TIMESTAMP } from '../../../../src/kernel/base/timestamp.js';
import { TENANT_ID } from '../../../../src/kernel/http/patterns.js';

const check = checkOf('body', Type.Object({ text: MemoryText }));

describe('a member with few values', () => {
  const kinds = (values: readonly string[]) =>
    checkOf('body', Type.Object({ kind: Type.Unsafe<string>({ type: 'string', enum: values }) }))({ kind: '?' });

  it('is refused with the list of its possible values', () => {
    const issues = [{ in: 'body', pointer: '/kind', message: 'must be a, b, or c' }];
    expect(kinds(['a', 'b', 'c'])).toEqual(issues);
  });

  it('lists no more of them than a person reads', () => {
    const [issue] = kinds(Array.from({ length: 23 }, (_, n) => `v${String(n)}`)) ?? [];
    expect(issue?.message).toMatch(/^must be one of v0, .*, v19 and 3 more$/);
  });
});

describe('a text with a limit in bytes', () => {
  it('is counted as UTF-8', () => {
    expect(check({ text: 'x'.repeat(8_192) })).toBeNull();
    expect(check({ text: 'é'.repeat(4_096) })).toBeNull();
    const issues = [{ in: 'body', pointer: '/text', message: 'must be at most 8192 bytes of UTF-8' }];
    expect(check({ text: 'x'.repeat(8_193) })).toEqual(issues);
    expect(check({ text: 'é'.repeat(4_097) })).toEqual(issues);
  });
});

describe('a described problem', () => {
  const told = (schema: Parameters<typeof checkOf>[1], value: unknown) =>
    checkOf('body', Type.Object({ m: schema }))({ m: value })?.map(({ message }) => message);

  it.each([
    ['the one value', Type.Literal('players'), 'x', 'must be "players"'],
    ['a text that may not be empty', Type.String({ minLength: 1 }), '', 'must not be empty'],
    ['a text that is too long', Type.String({ maxLength: 1 }), 'ab', 'must have at most 1 character'],
    ['too few items', Type.Array(Type.String(), { minItems: 2 }), ['a'], 'must have at least 2 items'],
    [
      'a timestamp',
      Type.String({ pattern: TIMESTAMP }),
      'yesterday',
      'must be an RFC 3339 timestamp, such as 2026-01-31T12:00:00Z',
    ],
    [
      'a tenant',
      Type.String({ pattern: TENANT_ID }),
      'Studio B',
      'must be 1 to 64 of the characters a-z, 0-9, "_" and "-"',
    ],
  ])('names %s', (_, schema, value, message) => {
    expect(told(schema, value)).toEqual([message]);
  });

  it('leaves out that a value may also be null, and that it matches none of several schemas', () => {
    const limit = Type.Union([Type.Object({ limit: Type.Integer({ minimum: 1 }) }), Type.Literal('off'), Type.Null()]);
    expect(told(limit, { limit: 0 })).toEqual(['must be >= 1', 'must be a string', 'must be "off"']);
    expect(told(Type.Union([Type.String(), Type.Null()]), 7)).toEqual(['must be a string']);
    expect(told(Type.Null(), 7)).toEqual(['must be null']);
    const neighbours = checkOf('body', Type.Object({ a: Type.Null(), ab: Type.String() }));
    expect(neighbours({ a: 1, ab: 1 })?.map(({ pointer }) => pointer)).toEqual(['/a', '/ab']);
  });

  it('is reported for everything that is refused', () => {
    const only = Type.Unsafe<unknown>({ if: { type: 'object' }, then: { anyOf: [{ type: 'null' }] } });
    expect(told(only, {})).not.toEqual([]);
  });
});
