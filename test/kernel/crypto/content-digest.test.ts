import { expect, it } from 'vitest';

import { payloadDigest } from '../../../src/kernel/crypto/content-digest.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';

it.each([0, 1, 512 * 1024 - 1, 512 * 1024, 3 * 512 * 1024 + 1])(
  'the digest of a payload of %i bytes is computed in slices',
  (size) => {
    const bytes = Buffer.alloc(size, 'abc');
    const work = payloadDigest(bytes);
    let slices = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) slices += 1;
    expect([step.value, slices]).toEqual([contentDigest(bytes), Math.ceil(size / (512 * 1024))]);
  },
);
