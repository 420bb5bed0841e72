import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { reachVerdict } from '../../../../src/features/turns/domain/decision/verdict.js';
import { DATA_BYTES, dataBytes } from '../../../../src/features/npcs/domain/mind-data.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { mergePatch } from '../../../../src/kernel/base/merge-patch.js';
import { anInput } from '../../../support/rules.js';

const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 });

describe('the length of data', () => {
  it('is the length of its JSON in UTF-8, also when it was patched after it was measured', () => {
    fc.assert(
      fc.property(fc.array(object, { maxLength: 6 }), fc.nat(3), (patches, padding) => {
        let data: JsonObject = { padding: ['é'.repeat(padding * 1_000), { deep: ['x'.repeat(padding * 700)] }] };
        for (const patch of patches) {
          data = mergePatch(data, patch as JsonObject);
          expect(dataBytes(data)).toBe(Buffer.byteLength(JSON.stringify(data)));
        }
      }),
    );
  });
});

describe('a state change', () => {
  const base = '{"notes":""}'.length;
  const holding = (bytes: number): JsonObject => ({ notes: 'x'.repeat(bytes - base) });
  const change = (data: JsonObject, stateDelta: JsonObject) =>
    reachVerdict(anInput({ data, npcState: {} }), JSON.stringify({ dialogue: 'Hm.', stateDelta })).verdict;

  it('may fill the data to its bound, and not beyond [2.8w]', () => {
    const more = ',"a":"y"'.length;
    expect(change(holding(DATA_BYTES - more), { a: 'y' })).toMatchObject({ valid: true, stateDelta: { a: 'y' } });
    expect(change(holding(DATA_BYTES - more + 1), { a: 'y' })).toMatchObject({
      valid: false,
      code: 'STATE_CHANGE_INVALID',
      stateDelta: {},
    });
  });

  it('may shrink data that exceed the bound', () => {
    expect(change({ ...holding(DATA_BYTES + 5), a: 'yy' }, { a: 'y' }).valid).toBe(true);
    expect(change({ ...holding(DATA_BYTES + 5), a: 'yy' }, { a: null }).valid).toBe(true);
    expect(change({ ...holding(DATA_BYTES + 5), a: 'y' }, { a: 'z' }).valid).toBe(false);
  });

  it('is valid for any data if it changes nothing', () => {
    expect(change(holding(DATA_BYTES + 5), {}).valid).toBe(true);
  });

  it('counts the data of the mind, without the overlay of a tape [2.1i]', () => {
    const input = anInput({ data: {}, npcState: holding(DATA_BYTES) });
    expect(reachVerdict(input, '{"stateDelta":{"a":1}}').verdict.valid).toBe(true);
  });
});
