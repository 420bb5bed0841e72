import { describe, expect, it } from 'vitest';

import { pagesIn, textOf } from './pages.js';

const bytesOf = (page: string): number => Buffer.byteLength(textOf(page));

describe('the docs', () => {
  it('have a README of at most 6,000 bytes', () => {
    expect(bytesOf('README.md')).toBeLessThanOrEqual(6_000);
  });

  it('have no page above 12,000 bytes', () => {
    expect(
      pagesIn('docs')
        .map((page) => [page, bytesOf(page)] as const)
        .filter(([, bytes]) => bytes > 12_000),
    ).toEqual([]);
  });

  it('begin each page with its title', () => {
    expect(pagesIn('docs').filter((page) => !/^(---\n[\s\S]*?\n---\n\n)?# \S/.test(textOf(page)))).toEqual([]);
  });
});
