import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type Json } from '../../../src/kernel/base/json.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { canonicalBody } from '../../../src/kernel/base/read-json.js';
import { readJsonBytes } from '../../../src/kernel/base/read-json.js';
import { nested } from '../http/fake-routes.js';
import { runs } from '../../support/long.js';

/** A text read in one piece, and the number of slices that took. */
const drive = (bytes: Buffer): { readonly text: string; readonly slices: number } => {
  const work = canonicalBody(bytes);
  for (let slices = 1; ; slices += 1) {
    const { done, value } = work.next();
    if (done === true) return { text: value, slices };
  }
};
const canonical = (text: string | Buffer): string => drive(Buffer.from(text)).text;
const outcome = (read: () => string): string => {
  try {
    return read();
  } catch (refusal) {
    expect(refusal).toBeInstanceOf(Rejection);
    const { code, details } = refusal as Rejection;
    return `${code}: ${JSON.stringify(details)}`;
  }
};
/** Reads a body and then makes it canonical, as the server does. */
const asTheGuard = (bytes: Buffer): string => outcome(() => jcs(readJsonBytes(bytes).value));
const bothWays = (text: string | Buffer): readonly [string, string] => {
  const bytes = Buffer.from(text);
  return [outcome(() => canonical(bytes)), asTheGuard(bytes)];
};
/** Given several reasons, each of the two reports the first one that it finds. */
const withoutReason = (outcome: string): string => outcome.replace(/^MALFORMED_JSON: .*/, 'refused');

describe('the canonical text of a body', () => {
  it('does not depend on how the value was written', () => {
    const spaces = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false }), spaces, fc.nat(4), (value, space, indent) => {
        const [mine, guards] = bothWays(`${space}${JSON.stringify(value, null, indent)}${space}`);
        expect(mine).toBe(guards);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused exactly when the guard refuses the body', () => {
    const piece = fc.constantFrom(
      ...['"', '\\', '\\u', 'd800', '\\udc00', '\\u005f_proto__', '__proto__', 'a', '\u0001', '\n', ' ', '\ufeff'],
      ...['[', ']', '{', '}', ':', ',', '"a"', '"b":', '"":'],
      ...['-', '+', '.', '0', '00', '12', 'e', 'E9', '1e400', '-0', '1.50', '0.1e-7', 'true', 'false', 'null', 'nul'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const [mine, guards] = bothWays(pieces.join('')).map(withoutReason);
        expect(mine).toBe(guards);
      }),
      { numRuns: runs(500, 5_000) },
    );
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['two values', '1 2'],
    ['a text without its end', '"a\\"'],
    ['an escape that is none', '"\\x"'],
    ['a member without a value', '{"a":}'],
    ['a comma too many', '[1,]'],
    ['a comma instead of a member', '{"a":1,}'],
    ['the wrong bracket', '[1}'],
    ['two byte order marks', '\ufeff\ufeff1'],
    ['members of the same name', '{"a":1,"b":2,"a":{"c":3}}'],
    ['an integer that no double holds', '[9007199254740993]'],
    ['a byte that is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['half a surrogate pair', '"\\ud800"'],
    ['half a surrogate pair in a name', '{"\\ud800":1}'],
    ['a number that is too large', '-1e999'],
    ['a member with the name __proto__', '{"a":{"__proto__":1}}'],
    ['the same name in other words', '{"\\u005f_proto__":1}'],
    ['33 levels', JSON.stringify(nested(33))],
    ['32 levels and an empty one', `${'['.repeat(33)}${']'.repeat(33)}`],
  ])('is refused as the guard refuses it: %s', (_, text) => {
    const [mine, guards] = bothWays(text);
    expect(mine).toBe(guards);
    expect(mine).toMatch(/^MALFORMED_JSON: ./);
  });

  it.each([
    ['32 levels', JSON.stringify(nested(32))],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['names by code unit', '{"\u{1f600}":1,"\ufb33":2,"\u20ac":3,"1":4,"\\r":5,"\u0080":6,"":7,"a":8,"A":9}'],
    ['numbers', '[-0,0.0,1E21,1e-7,333333333.33333329,1e23,4.50,2e-3,0.000001,9007199254740992,9007199254740994.0]'],
    ['texts', '["\\u0041\\/\\u000a\\u20ac\\ud83d\\ude00\\u007f\\u2028","\\\\","\\\\\\""]'],
    ['constructor', '{"constructor":{"prototype":1},"toJSON":"x"}'],
  ])('is the same everywhere: %s', (_, text) => {
    const [mine, guards] = bothWays(text);
    expect(mine).toBe(guards);
    expect(mine).not.toMatch(/^MALFORMED_JSON/);
  });

  it('is refused even for values that a later member of the same name replaces', () => {
    expect(outcome(() => canonical('{"a":1e999,"a":1}'))).toMatch(/^MALFORMED_JSON/);
  });

  it('is made in slices: of a long list, of many names, and of white space between them', () => {
    const names = Array.from({ length: 100_000 }, (_, n) => String((n * 7919) % 100_003));
    const many: Json = Object.fromEntries(names.map((name) => [`n${name}`, null]));
    for (const value of [names, many]) {
      const { text, slices } = drive(Buffer.from(JSON.stringify(value, null, 1)));
      expect(text).toBe(jcs(value));
      expect(slices).toBeGreaterThan(20);
    }
  });

  it('may have millions of characters in one number, text or gap', () => {
    const most = 4_000_000;
    for (const text of [
      `"${'a'.repeat(most)}"`,
      `"${'\\\\'.repeat(most)}"`,
      ' '.repeat(most),
      `0.${'1'.repeat(most)}`,
      '['.repeat(100_000),
    ]) {
      const [mine, guards] = bothWays(text).map(withoutReason);
      expect(mine === guards).toBe(true);
    }
  });
});
