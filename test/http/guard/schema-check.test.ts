import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { compileCheck } from '../../../src/http/guard/schema-check.js';
import { MemoryText } from '../../../src/http/schemas.js';

const check = compileCheck('body', Type.Object({ text: MemoryText }));

describe('a text bounded in bytes', () => {
  it('is counted as UTF-8', () => {
    expect(check({ text: 'x'.repeat(8_192) })).toBeNull();
    expect(check({ text: 'é'.repeat(4_096) })).toBeNull();
    const issues = [{ in: 'body', pointer: '/text', message: 'must be at most 8192 bytes of UTF-8' }];
    expect(check({ text: 'x'.repeat(8_193) })).toEqual(issues);
    expect(check({ text: 'é'.repeat(4_097) })).toEqual(issues);
  });
});
