import { expect, it } from 'vitest';

import { findPreset } from '../../../../src/features/rules/domain/presets.js';
import { jcs, type Json } from '../../../../src/kernel/base/json.js';
import { sha256Hex } from '../../../../src/kernel/crypto/sha256.js';

/** Turns of agents record it as version 0 of `default`, and every later replay needs it. */
it('a preset that turns were decided by never changes', () => {
  expect(sha256Hex(jcs(findPreset('default') as unknown as Json))).toBe(
    'ab618ad7ae18d35968c3abfa02cc77adb19b622fac8545591b6bc2212483f3df',
  );
});
