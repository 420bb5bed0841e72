import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

import { sha256Base64url } from '../../../kernel/crypto/sha256.js';

/**
 * The form of a key: `am_live_<id>_<secret><crc>` or `am_test_<id>_<secret><crc>`, in base 62 throughout. The checksum lets scanners distinguish a
 * leaked key from a look-alike, and lets the server recognise a mistyped key. It is not a security measure.
 */

/** Random bytes in a key: 192 bits, more than the promised 160 (promise 1.3g). */
export const secretBytes = 24;

const idBytes = 12;
const idDigits = 17;
const secretDigits = 33;
const checksumDigits = 6;
const shape = new RegExp(
  `^am_(live|test)_([0-9A-Za-z]{${String(idDigits)}})_([0-9A-Za-z]{${String(secretDigits + checksumDigits)}})$`,
);
/** The longest part of a presented token that is read, so a giant header causes no work. */
const presentedMax = 128;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * The bytes as one big-endian number in base 62, padded with zeros to `width` digits.
 * @throws RangeError if the number needs more digits than that
 */
export const base62 = (bytes: Uint8Array, width: number): string => {
  let rest = bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  if (text.length > width) throw new RangeError(`${String(bytes.length)} bytes do not fit ${String(width)} digits`);
  return text.padStart(width, '0');
};

/** Computed on every request, so it avoids the large numbers of `base62`. */
const checksum = (text: string): string => {
  let rest = crc32(text);
  let found = '';
  while (found.length < checksumDigits) {
    found = digits.charAt(rest % 62) + found;
    rest = Math.floor(rest / 62);
  }
  return found;
};

/** The key id that a command issues: the same for every attempt at the command, and revealing nothing about it. */
export const keyIdOf = (commandId: string): string =>
  base62(createHash('sha256').update(`anima key id\n${commandId}`).digest().subarray(0, idBytes), idDigits);

/**
 * A complete key, to be shown once and never stored.
 * @param random `secretBytes` unpredictable bytes
 */
export const makeApiKey = (keyId: string, random: Uint8Array, test: boolean): string => {
  if (random.length !== secretBytes) throw new RangeError(`a key takes ${String(secretBytes)} random bytes`);
  const body = `am_${test ? 'test' : 'live'}_${keyId}_${base62(random, secretDigits)}`;
  return body + checksum(body);
};

/** The id inside a well-formed key, null for anything else. It does not show whether the key was ever issued. */
export const parseApiKey = (token: string): { readonly keyId: string; readonly test: boolean } | null => {
  const match = shape.exec(token);
  if (match === null || checksum(token.slice(0, -checksumDigits)) !== token.slice(-checksumDigits)) return null;
  return { keyId: match[2] ?? '', test: match[1] === 'test' };
};

/**
 * The stored form of a key: HMAC-SHA256 over all of it, base64url. With a stolen store but without the server's secret, guesses cannot even be
 * tested.
 * @param hashKey 32 bytes derived from the server's secret
 */
export const hashApiKey = (hashKey: Uint8Array, token: string): string =>
  createHmac('sha256', hashKey).update(token.slice(0, presentedMax)).digest('base64url');

/** A digest for recognising a key that was accepted before: a quarter of the work of `matchesHash`. Kept in memory only. */
export const tokenDigest = (token: string): string => sha256Base64url(token.slice(0, presentedMax));

/** Compares a presented key with a stored hash: one HMAC and one comparison in constant time. */
export const matchesHash = (hashKey: Uint8Array, token: string, hash: string): boolean => {
  const presented = Buffer.from(hashApiKey(hashKey, token));
  const stored = Buffer.from(hash);
  return presented.length === stored.length && timingSafeEqual(presented, stored);
};
