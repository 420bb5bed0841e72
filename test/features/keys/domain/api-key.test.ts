import { createHmac } from 'node:crypto';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  base62,
  hashApiKey,
  keyIdOf,
  makeApiKey,
  matchesHash,
  parseApiKey,
  secretBytes,
} from '../../../../src/features/keys/domain/api-key.js';

const secret = fc.uint8Array({ minLength: secretBytes, maxLength: secretBytes });
const anyKey = fc
  .record({ commandId: fc.string(), random: secret, test: fc.boolean() })
  .map(({ commandId, random, test }) => ({
    keyId: keyIdOf(commandId),
    test,
    token: makeApiKey(keyIdOf(commandId), random, test),
  }));
const hashKey = Buffer.alloc(32, 7);

describe('an API key', () => {
  it('has the shape am_live_<id>_<secret+crc> or am_test_, in base 62 throughout [1.3g]', () => {
    fc.assert(
      fc.property(anyKey, ({ token, keyId, test }) => {
        expect(token).toMatch(/^am_(live|test)_[0-9A-Za-z]{17}_[0-9A-Za-z]{39}$/);
        expect(token.startsWith(`am_${test ? 'test' : 'live'}_${keyId}_`)).toBe(true);
      }),
    );
  });

  it('parses to the id and kind that it was made with', () => {
    fc.assert(
      fc.property(anyKey, ({ token, keyId, test }) => {
        expect(parseApiKey(token)).toEqual({ keyId, test });
      }),
    );
  });

  it('holds at least 160 random bits, and cannot be made from fewer [1.3g]', () => {
    expect(secretBytes * 8).toBeGreaterThanOrEqual(160);
    expect(() => makeApiKey(keyIdOf('a'), new Uint8Array(secretBytes - 1), false)).toThrow(RangeError);
  });

  it('differs for different random bytes', () => {
    fc.assert(
      fc.property(secret, secret, (one, other) => {
        fc.pre(!Buffer.from(one).equals(Buffer.from(other)));
        expect(makeApiKey(keyIdOf('a'), one, false)).not.toBe(makeApiKey(keyIdOf('a'), other, false));
      }),
    );
  });

  it('is malformed when one character is changed', () => {
    fc.assert(
      fc.property(anyKey, fc.nat(), fc.constantFrom(...'09AZaz_ é'), ({ token }, at, char) => {
        const place = at % token.length;
        fc.pre(token[place] !== char);
        expect(parseApiKey(token.slice(0, place) + char + token.slice(place + 1))).toBeNull();
      }),
    );
  });

  it('is not found in other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseApiKey(text)).toBeNull();
      }),
    );
    const token = makeApiKey(keyIdOf('a'), new Uint8Array(secretBytes), false);
    for (const text of ['', `${token}\n`, ` ${token}`, token.slice(1), `${token}0`])
      expect(parseApiKey(text)).toBeNull();
  });
});

describe('the id of a key', () => {
  it('is the same for every attempt at a command and differs between commands', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(keyIdOf(one)).toBe(keyIdOf(one));
        expect(keyIdOf(one) === keyIdOf(other)).toBe(one === other);
      }),
    );
  });
});

describe('the stored hash of a key', () => {
  it('is HMAC-SHA256 of the entire key', () => {
    fc.assert(
      fc.property(anyKey, ({ token }) => {
        expect(hashApiKey(hashKey, token)).toBe(createHmac('sha256', hashKey).update(token).digest('base64url'));
      }),
    );
  });

  it('matches only its own key under its own hash key', () => {
    fc.assert(
      fc.property(anyKey, anyKey, ({ token }, { token: other }) => {
        const hash = hashApiKey(hashKey, token);
        expect(matchesHash(hashKey, token, hash)).toBe(true);
        expect(matchesHash(Buffer.alloc(32, 8), token, hash)).toBe(false);
        expect(matchesHash(hashKey, other, hash)).toBe(token === other);
      }),
    );
  });

  it('matches nothing when it is truncated', () => {
    const token = makeApiKey(keyIdOf('a'), new Uint8Array(secretBytes), false);
    expect(matchesHash(hashKey, token, hashApiKey(hashKey, token).slice(1))).toBe(false);
  });
});

describe('base 62', () => {
  it('has the requested width, and keeps the order of numbers', () => {
    fc.assert(
      fc.property(secret, secret, (one, other) => {
        const [a, b] = [base62(one, 33), base62(other, 33)];
        expect([a.length, b.length]).toEqual([33, 33]);
        expect(Math.sign(Buffer.compare(one, other))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('refuses a number that needs more digits', () => {
    expect(() => base62(Uint8Array.of(255, 255), 2)).toThrow(RangeError);
  });
});
