import { describe, expect, it } from 'vitest';

import { MAX_CONTAINERS, MAX_ITEMS, MAX_MEMBERS, scanJson } from '../../../src/kernel/base/scan-json.js';

const look = (text: string | Uint8Array): number => {
  let slices = 0;
  const bytes = Buffer.from(text as string);
  for (const _ of scanJson(bytes)) slices += 1;
  return slices;
};
const refusal = expect.objectContaining({ code: 'BODY_TOO_LARGE' }) as Error;

describe('the limits of a large body', () => {
  it('are those of the reference [1.2s]', () => {
    expect([MAX_CONTAINERS, MAX_ITEMS, MAX_MEMBERS]).toEqual([400_000, 2_000_000, 50_000]);
  });

  it('bound the lists and objects [1.2s]', () => {
    const lists = (count: number): string => `[${'[]'.repeat(count - 1)}]`;
    expect(() => look(lists(MAX_CONTAINERS))).not.toThrow();
    expect(() => look(lists(MAX_CONTAINERS + 1))).toThrow(refusal);
    expect(() => look('{'.repeat(MAX_CONTAINERS + 1))).toThrow(refusal);
  });

  it('bound the values [1.2s]', () => {
    expect(() => look(`[${'1,'.repeat(MAX_ITEMS)}1]`)).not.toThrow();
    expect(() => look(`[${'1,'.repeat(MAX_ITEMS + 1)}1]`)).toThrow(refusal);
  });

  it('bound the members of one object, but not of several together [1.2s]', () => {
    const object = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}":1`).join(',')}}`;
    expect(() => look(object(MAX_MEMBERS))).not.toThrow();
    expect(() => look(`[${object(MAX_MEMBERS)},${object(MAX_MEMBERS)}]`)).not.toThrow();
    expect(() => look(`[{},${object(MAX_MEMBERS + 1)}]`)).toThrow(refusal);
  });

  it('do not count characters inside texts, wherever a slice ends', () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = `${' '.repeat(shift)}["${'\\"[,{'.repeat(1_500_000)}", "\\\\", []]`;
      expect(look(text), String(shift)).toBeGreaterThan(10);
    }
  });

  it('are checked in slices', () => {
    expect(look(Buffer.alloc(16 * 1024 * 1024, 0x20))).toBe(31);
  });
});
