import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ACTION_DEPTH } from '../../../src/features/turns/domain/decision/model-output.js';
import { reachVerdict } from '../../../src/features/turns/domain/decision/verdict.js';
import { finalizeWire } from '../../../src/features/turns/domain/signature.js';
import { jcs, type Json } from '../../../src/kernel/base/json.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { readJson, readJsonBytes } from '../../../src/kernel/base/read-json.js';
import { anInput } from '../../support/rules.js';

describe('strict JSON', () => {
  it('reads back every signed verdict, however deep a model nests its action', () => {
    const action = (depth: number) => `{"action":${'{"type":"WAVE","a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
    const sentBack = Array.from({ length: 40 }, (_, depth) => action(depth + 1)).flatMap((text) => {
      const { verdict } = reachVerdict(anInput(), text);
      return verdict.valid ? [{ npcId: 'mira', signature: 'x', verdict: finalizeWire(verdict, 'x') }] : [];
    });
    expect(sentBack).toHaveLength(ACTION_DEPTH);
    for (const body of sentBack) expect(readJson(JSON.stringify(body))).toEqual(body);
  });

  it('reads every JSON value as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__') && text.isWellFormed() && !/\\ud[89a-f]/.test(text));
        expect(readJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('rejects everything that the canonical form cannot hold', () => {
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

  it('survives arbitrary bytes', () => {
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
