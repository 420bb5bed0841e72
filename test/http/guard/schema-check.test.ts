import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { compileCheck } from '../../../src/http/guard/schema-check.js';
import { MemoryText } from '../../../src/http/schemas.js';

const check = compileCheck('body', Type.Object({ text: MemoryText }));

describe('a member with few values', () => {
  const kinds = (values: readonly string[]) =>
    compileCheck('body', Type.Object({ kind: Type.Unsafe<string>({ type: 'string', enum: values }) }))({ kind: '?' });

  it('is refused with the values that it may have', () => {
    const issues = [{ in: 'body', pointer: '/kind', message: 'must be a, b, or c' }];
    expect(kinds(['a', 'b', 'c'])).toEqual(issues);
  });

  it('names no more of them than a person reads', () => {
    const [issue] = kinds(Array.from({ length: 23 }, (_, n) => `v${String(n)}`)) ?? [];
    expect(issue?.message).toMatch(/^must be one of v0, .*, v19 and 3 more$/);
  });
});

describe('a text bounded in bytes', () => {
  it('is counted as UTF-8', () => {
    expect(check({ text: 'x'.repeat(8_192) })).toBeNull();
    expect(check({ text: 'é'.repeat(4_096) })).toBeNull();
    const issues = [{ in: 'body', pointer: '/text', message: 'must be at most 8192 bytes of UTF-8' }];
    expect(check({ text: 'x'.repeat(8_193) })).toEqual(issues);
    expect(check({ text: 'é'.repeat(4_097) })).toEqual(issues);
  });
});
