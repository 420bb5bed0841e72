import { encode, rfc8949EncodeOptions } from 'cborg';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type Json } from '../../../../src/kernel/base/json.js';
import { soulFromCborSlices, soulToCbor, soulToCborSlices } from '../../../../src/features/souls/domain/binary.js';
import { soulFromCbor } from '../../../support/soul-from-cbor.js';
import { MAX_SOUL_BYTES, MAX_SOUL_DEPTH } from '../../../../src/features/souls/domain/bounds.js';
import type { SoulDocument } from '../../../../src/features/souls/domain/document.js';
import { unsignedSoul } from '../../../support/souls.js';
import { itLong, runs } from '../../../support/long.js';

const soul: SoulDocument = { ...unsignedSoul(), trainingProof: 'root', signature: 'a.b.c' };
/** Writes any JSON; the type only shows the purpose. */
const written = (value: Json): Uint8Array => soulToCbor(value as unknown as SoulDocument);
const hex = (value: Json): string => Buffer.from(written(value)).toString('hex');
const read = (bytes: string): Json => soulFromCbor(Buffer.from(bytes.replaceAll(' ', ''), 'hex'));

describe('a soul as CBOR', () => {
  it('decodes to the same soul', () => {
    expect(soulFromCbor(soulToCbor(soul))).toEqual(soul);
  });

  it('has the same bytes for any order of members', () => {
    const turned = Object.fromEntries(Object.entries(soul).reverse()) as SoulDocument;
    expect(soulToCbor(turned)).toEqual(soulToCbor(soul));
  });

  it.each<[string, Json]>([
    ['many small lists', Array<Json>(60_000).fill([1, 'two'])],
    ['one long list', Array<Json>(200_000).fill(1)],
    ['one map of many names', Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name ${n % 7} ${n}`, n]))],
  ])('is written and read in slices: %s', (_, value) => {
    const pausesOf = (work: Generator<number>): number => [...work].length;
    expect(pausesOf(soulToCborSlices(value as unknown as SoulDocument))).toBeGreaterThan(4);
    expect(pausesOf(soulFromCborSlices(written(value)))).toBeGreaterThan(8);
    expect(soulFromCbor(written(value))).toEqual(value);
    expect(Buffer.from(written(value))).toEqual(Buffer.from(encode(value, rfc8949EncodeOptions)));
  });

  // The examples of RFC 8949, appendix A, that apply to JSON.
  it.each<[Json, string]>([
    [0, '00'],
    [23, '17'],
    [24, '1818'],
    [1_000_000, '1a000f4240'],
    [1_000_000_000_000, '1b000000e8d4a51000'],
    [-1, '20'],
    [-1_000, '3903e7'],
    [1.5, 'f93e00'],
    [100_000.5, 'fa47c35040'],
    [1.1, 'fb3ff199999999999a'],
    [5.960464477539063e-8, 'f90001'],
    [0.00006103515625, 'f90400'],
    [-4.1, 'fbc010666666666666'],
    [3.4028234663852886e38, 'fa7f7fffff'],
    [1e300, 'fb7e37e43c8800759c'],
    [false, 'f4'],
    [true, 'f5'],
    [null, 'f6'],
    ['', '60'],
    ['IETF', '6449455446'],
    ['"\\', '62225c'],
    ['\u00fc', '62c3bc'],
    ['\ud800\udd51', '64f0908591'],
    [[1, [2, 3], [4, 5]], '8301820203820405'],
    [{ a: 1, b: [2, 3] }, 'a26161016162820203'],
  ])('writes %j as in the standard, and reads it [8.7o]', (value, bytes) => {
    expect(hex(value)).toBe(bytes);
    expect(read(bytes)).toEqual(value);
  });

  it('writes every integer up to 2^53 - 1 as an integer, and greater ones as the shortest float [8.7o]', () => {
    expect(hex(Number.MAX_SAFE_INTEGER)).toBe('1b001fffffffffffff');
    expect(hex(Number.MIN_SAFE_INTEGER)).toBe('3b001ffffffffffffe');
    expect(hex(2 ** 53)).toBe('fa5a000000');
    expect(hex(-0)).toBe('00');
  });

  it('writes every number of half precision in three bytes, or fewer for an integer', () => {
    for (let bits = 0; bits < 0x7c00; bits += 1) {
      const [exponent, fraction] = [bits >> 10, bits & 0x3ff];
      const value = exponent === 0 ? fraction * 2 ** -24 : (1_024 + fraction) * 2 ** (exponent - 25);
      const bytes = hex(value);
      if (Number.isInteger(value) ? bytes.length > 6 : bytes !== `f9${bits.toString(16).padStart(4, '0')}`) {
        expect.fail(`${value} is written as ${bytes}`);
      }
    }
  });

  it('orders names by their bytes, as section 4.2.1 requires [8.7o]', () => {
    const names = [
      'b',
      'aa',
      '',
      'ö',
      'z'.repeat(24),
      'a'.repeat(300),
      '\ud83d\ude00',
      '\uffff',
      'constructor',
      '10',
      '9',
    ];
    const value = Object.fromEntries(names.map((name, place) => [name, place]));
    expect(written(value)).toEqual(new Uint8Array(encode(value, rfc8949EncodeOptions)));
    expect(Buffer.from(written({ '\uffff': 1, '\ud83d\ude00': 2 })).toString('hex')).toBe('a263efbfbf0164f09f988002');
  });

  it('is one item, however long', () => {
    const values = Array.from({ length: 40_000 }, (_, place): Json => [
      place,
      `${place}`.repeat(place % 60),
      place / 3,
    ]);
    const long = { values, text: 'ö'.repeat(200_000), last: [-1, 2 ** 40, 0.5, null] };
    expect(Buffer.compare(written(long), encode(long, rfc8949EncodeOptions))).toBe(0);
    expect(soulFromCbor(written(long))).toEqual(long);
  });

  it('preserves any JSON, and every number to the bit', () => {
    const key = fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__');
    const { value: anyJson } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(null, true, false),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.maxSafeInteger(),
        fc.string({ unit: 'binary' }),
        fc.constant('\ufeffa text that begins with a byte order mark'),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(anyJson, (value) => {
        const bytes = written(value);
        const again = soulFromCbor(bytes);
        expect(jcs(again)).toBe(jcs(value));
        expect(written(again)).toEqual(bytes);
        if (!JSON.stringify(value).includes('e-')) {
          expect(bytes).toEqual(new Uint8Array(encode(value, rfc8949EncodeOptions)));
        }
      }),
      { numRuns: runs(100, 500) },
    );
  });
});

describe('bytes that are not the encoding of a soul', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['an integer that is longer than it must be', '1817'],
    ['a length that is longer than it must be', '780161'],
    ['a float that is longer than it must be', 'fb3ff8000000000000'],
    ['a whole number as a float', 'f93c00'],
    ['negative zero', 'f98000'],
    ['a number beyond the safe ones as an integer', '1b0020000000000000'],
    ['infinity', 'f97c00'],
    ['a value that is not a number', 'f97e00'],
    ['undefined', 'f7'],
    ['another simple value', 'f0'],
    ['a simple value in two bytes', 'f820'],
    ['a byte string', '4101'],
    ['a tag', 'c000'],
    ['the tag of CBOR itself', 'd9d9f700'],
    ['a list without a length', '9f01ff'],
    ['a map without a length', 'bf616101ff'],
    ['a text in pieces', '7f6161ff'],
    ['an end without a beginning', 'ff'],
    ['names in another order', 'a2 6162 01 6161 02'],
    ['the longer name first', 'a2 626161 01 6162 02'],
    ['a duplicate name', 'a2 6161 01 6161 02'],
    ['a number for a name', 'a1 01 02'],
    ['a list for a name', 'a1 80 02'],
    ['a list that ends too early', '8201'],
    ['a map that ends too early', 'a16161'],
    ['a text that ends too early', '6261'],
    ['a list of four billion items', '9affffffff00'],
    ['a text of four billion bytes', '7affffffff61'],
    ['text that is not UTF-8', '61ff'],
    ['text with half a surrogate pair', '63eda080'],
    ['extra bytes after the end', '0000'],
  ])('are refused: %s [8.7p]', (_, bytes) => {
    expect(read(bytes)).toBeNull();
  });

  it('are refused if they are nested deeper than a soul may be', () => {
    const nested = (levels: number): Json => (levels === 1 ? { a: 1 } : [nested(levels - 1)]);
    expect(soulFromCbor(written(nested(MAX_SOUL_DEPTH)))).toEqual(nested(MAX_SOUL_DEPTH));
    expect(soulFromCbor(written(nested(MAX_SOUL_DEPTH + 1)))).toBeNull();
    expect(soulFromCbor(new Uint8Array(16_777_216).fill(0x81))).toBeNull();
  });

  it('are refused unread if they are longer than any soul', () => {
    expect(soulFromCbor(new Uint8Array(3 * MAX_SOUL_BYTES + 1))).toBeNull();
  });

  itLong('are refused, or decode to another value, after every flip of a bit', () => {
    const bytes = soulToCbor(soul);
    for (const [place, byte] of bytes.entries()) {
      for (let bit = 1; bit < 256; bit *= 2) {
        bytes[place] = byte ^ bit;
        const changed = soulFromCbor(bytes);
        bytes[place] = byte;
        if (changed !== null && jcs(changed) === jcs(soul)) expect.fail(`byte ${place}, bit ${bit}`);
      }
    }
  });
});
