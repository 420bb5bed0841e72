import { expect, it } from 'vitest';

import { requireMetadataFits } from '../../../src/features/souls/soul-metadata.js';
import { unsignedSoul } from '../../support/souls.js';

it('pauses depend on the size of the metadata, not on the number of memories', () => {
  const [first] = unsignedSoul().memories;
  if (first === undefined) throw new Error('the soul has memories');
  const pausesIn = (count: number, metadata: { readonly n: string }): number => {
    const memories = Array.from({ length: count }, () => ({ ...first, metadata }));
    return [...requireMetadataFits({ memories })].length;
  };
  expect(pausesIn(5_000, { n: 'x' })).toBeLessThan(100);
  expect(pausesIn(50, { n: 'x'.repeat(16_000) })).toBeGreaterThan(10);
});
