import { createHmac, hkdfSync } from 'node:crypto';

import { expect, it } from 'vitest';

import { deriveKey } from '../../../src/kernel/crypto/derive-key.js';
import { createSeals } from '../../../src/kernel/crypto/seals.js';

const secret = Buffer.alloc(32, 7);
const seals = createSeals(deriveKey(secret, 'event-mac'));
const HASH = 'ab'.repeat(32);

it('is an HMAC-SHA256 with a key of its own, derived from the secret [10.13a]', () => {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'anima/v1/event-mac', 32));
  expect(seals.of(HASH)).toBe(createHmac('sha256', key).update(HASH).digest('base64url'));
  expect(createSeals(deriveKey(secret, 'snapshot-mac')).of(HASH)).not.toBe(seals.of(HASH));
});

it('does not fit what is no text, because a store may hold anything', () => {
  const mac = seals.of(HASH);
  for (const other of [5, null, undefined, {}, [HASH]]) {
    expect(seals.fits(other, mac)).toBe(false);
    expect(seals.fits(HASH, other)).toBe(false);
  }
});

it('fits only its text and its key', () => {
  const mac = seals.of(HASH);
  expect(seals.fits(HASH, mac)).toBe(true);
  expect(seals.fits(HASH.replace('a', 'b'), mac)).toBe(false);
  expect(seals.fits(HASH, createSeals(Buffer.alloc(32, 8)).of(HASH))).toBe(false);
  for (const wrong of ['', `${mac}A`, mac.slice(1), 'é'.repeat(43)]) expect(seals.fits(HASH, wrong)).toBe(false);
});
