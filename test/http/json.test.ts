import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type Json } from '../../src/domain/shared/json.js';
import { Rejection } from '../../src/domain/shared/rejection.js';
import { readJson, readJsonBytes } from '../../src/http/json.js';

describe('strict JSON', () => {
  it('reads every value that JSON can hold as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__') && text.isWellFormed() && !/\\ud[89a-f]/.test(text));
        expect(readJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('lets nothing through that the canonical form cannot hold', () => {
    const unit = fc.constantFrom(
      '\\ud800',
      '\\udc00',
      'a',
      '1e400',
      '0',
      '"',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '\\u005f',
      '_',
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (parts) => {
        let value: Json;
        try {
          value = readJson(parts.join(''));
        } catch (refusal) {
          expect(refusal).toBeInstanceOf(Rejection);
          return;
        }
        expect(JSON.parse(jcs(value))).toEqual(value);
      }),
      { numRuns: 2_000 },
    );
  });

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          readJsonBytes(Buffer.from(bytes));
        } catch (refusal) {
          expect(refusal).toBeInstanceOf(Rejection);
        }
      }),
    );
  });
});
