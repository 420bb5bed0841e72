import { describe, expect, it } from 'vitest';

import { presetContents, presetIds } from '../../../../src/features/rules/domain/presets/presets.js';
import { rulesetDigest } from '../../../../src/features/rules/ruleset-digest.js';

/** The digests in the records of turns, the oldest content first. A released one never changes: a changed preset gets another entry here. */
const digests: Readonly<Record<string, readonly string[]>> = {
  default: ['c3G8r0k5N1lDhwptb6qOaMJ_LVARKe8v-yiCng8tQyc', 'iv76CVkN3cSdXTLyC-PxvQML39kdF4zTsxVWuXGjjcw'],
  social: ['mhxcLwHDGJpZpJNOf86zfbXF32gmJcz4szW7x_kEmRA', 'JtJeC8LmjCPl9vnW6FnM1F9h_frFIZFneLfHCTdeP0U'],
  rpg: ['XAfGhFmYEZtRrQKwUWK1Xt3ndvNfr9qkaWBJiUlNnBk', 'oHQnTT7d3-1FHmpl17DDgX0WFs3-Qx55MzI2kQDtZlI'],
  stealth: ['a1HMd6E9mpxMXvGd5nQcAJLv3DJ2YKU8Ac_QEhzJNl0', 'jc2yKD1RCbzJIdgkD2HxIKj_i80QANoyp5OAUhdBJDI'],
};

describe('the contents of presets that turns were decided by', () => {
  it.each(presetIds())('never change: %s [5.3g]', async (presetId) => {
    const contents = presetContents(presetId).map((content) => rulesetDigest({ ...content, version: 0 }));
    expect(await Promise.all(contents)).toEqual(digests[presetId]);
  });
});
