import { describe, expect, it } from 'vitest';

import { drained } from '../../../src/kernel/base/sliced.js';
import { utf8Slices } from '../../../src/kernel/base/utf8-slices.js';

const SLICE_BYTES = 524_288;

describe('UTF-8 text decoded in slices', () => {
  it.each(['', 'a', 'a “b” 😀'])('equals the text decoded at once: %j', (text) => {
    expect(drained(utf8Slices(Buffer.from(text)))).toBe(text);
  });

  it('keeps a character that spans two slices', () => {
    for (let before = SLICE_BYTES - 4; before <= SLICE_BYTES; before += 1) {
      const text = `${'a'.repeat(before)}😀 and more`;
      expect(drained(utf8Slices(Buffer.from(text)))).toBe(text);
    }
  });

  it('drops the byte order mark of a short text and of a long one, and no other', () => {
    for (const text of ['a', 'a'.repeat(SLICE_BYTES)]) {
      expect(drained(utf8Slices(Buffer.from(`\ufeff${text}\ufeff`)))).toBe(`${text}\ufeff`);
    }
  });

  it('is refused if it is not UTF-8, wherever the error is', () => {
    const broken = [
      [0xff],
      [...Buffer.alloc(SLICE_BYTES, 'a'), 0xff],
      [...Buffer.alloc(SLICE_BYTES - 1, 'a'), 0xe2, 0x80],
    ];
    for (const bytes of broken) expect(() => drained(utf8Slices(Uint8Array.from(bytes)))).toThrow(TypeError);
  });

  it('yields after each slice', () => {
    expect([...utf8Slices(Buffer.alloc(3 * SLICE_BYTES, 'a'))]).toHaveLength(3);
    expect([...utf8Slices(Buffer.alloc(SLICE_BYTES, 'a'))]).toHaveLength(0);
  });
});
