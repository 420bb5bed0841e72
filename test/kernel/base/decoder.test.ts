import { describe, expect, it } from 'vitest';

import { currentVersion, decoderOf, type Upcaster } from '../../../src/kernel/base/decoder.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';

type Event =
  | { readonly type: 'Named'; readonly data: { readonly first: string; readonly last: string } }
  | { readonly type: 'Left'; readonly data: Record<string, never> };

/** Version 1 held a whole name, version 2 called the parts by other names. */
const splitName: Upcaster = ({ name }) => {
  const [given, family] = (name as string).split(' ');
  return { given: given ?? '', family: family ?? '' };
};
const renameParts: Upcaster = ({ given, family }) => ({ first: given ?? '', last: family ?? '' });
const decoder = decoderOf<Event>({ Named: [splitName, renameParts], Left: [] });
const stored = (type: string, schemaVersion: number, data: JsonObject) => ({ type, data, meta: { schemaVersion } });

describe('a decoder', () => {
  it('knows the types of its kind and the version of each', () => {
    expect(decoder.types).toEqual(['Named', 'Left']);
    expect(['Named', 'Left', 'Other', 'toString'].map((type) => decoder.versionOf(type))).toEqual([3, 1, null, null]);
    expect(currentVersion(decoder, 'Named')).toBe(3);
    expect(() => currentVersion(decoder, 'Other')).toThrow(/Other/);
  });

  it('gives an event of the newest version as it is', () => {
    const event = stored('Named', 3, { first: 'Ada', last: 'Byron' });
    expect(decoder.decode(event)).toBe(event);
  });

  it.each([
    [1, { name: 'Ada Byron' }],
    [2, { given: 'Ada', family: 'Byron' }],
  ])('lifts version %i to the newest, step by step, and leaves what is stored alone', (version, data) => {
    const event = Object.freeze(stored('Named', version, Object.freeze(data)));
    expect(decoder.decode(event)).toEqual({ type: 'Named', data: { first: 'Ada', last: 'Byron' } });
    expect(event.data).toBe(data);
  });

  it('calls an event of another type unknown, and tells nothing of its data', () => {
    const event = decoder.decode(stored('Renamed', 1, { name: 'Grace Hopper' }));
    expect(event).toEqual({ type: 'Unknown', data: {} });
  });

  it('refuses a version that only a newer program can have written [10.8c]', () => {
    expect(() => decoder.decode(stored('Left', 2, {}))).toThrow(
      expect.objectContaining({
        code: 'EVENT_VERSION_UNKNOWN',
        details: { type: 'Left', version: 2 },
      }) as Error,
    );
  });
});
