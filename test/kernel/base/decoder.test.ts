import { describe, expect, it } from 'vitest';

import { currentVersion, decoderOf, type Upcaster } from '../../../src/kernel/base/decoder.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';

type Event =
  | { readonly type: 'Named'; readonly data: { readonly first: string; readonly last: string } }
  | { readonly type: 'Left'; readonly data: Record<string, never> };

/** Version 1 held a full name, version 2 named the parts differently. */
const splitName: Upcaster = ({ name }) => {
  const [given, family] = (name as string).split(' ');
  return { given: given ?? '', family: family ?? '' };
};
const renameParts: Upcaster = ({ given, family }) => ({ first: given ?? '', last: family ?? '' });
const decoder = decoderOf<Event>({ Named: [splitName, renameParts], Left: [] });
const stored = (type: string, schemaVersion: number, data: JsonObject) => ({ type, data, meta: { schemaVersion } });

describe('a decoder', () => {
  it('lists the types of its kind and their versions', () => {
    expect(decoder.types).toEqual(['Named', 'Left']);
    expect(['Named', 'Left', 'Other', 'toString'].map((type) => decoder.versionOf(type))).toEqual([3, 1, null, null]);
    expect(currentVersion(decoder, 'Named')).toBe(3);
    expect(() => currentVersion(decoder, 'Other')).toThrow(/Other/);
  });

  it('returns an event of the newest version unchanged', () => {
    const event = stored('Named', 3, { first: 'Ada', last: 'Byron' });
    expect(decoder.decode(event)).toBe(event);
  });

  it.each([
    [1, { name: 'Ada Byron' }],
    [2, { given: 'Ada', family: 'Byron' }],
  ])('upcasts version %i to the newest, step by step, without changing the stored event', (version, data) => {
    const event = Object.freeze(stored('Named', version, Object.freeze(data)));
    expect(decoder.decode(event)).toEqual({ type: 'Named', data: { first: 'Ada', last: 'Byron' } });
    expect(event.data).toBe(data);
  });

  it('reports an event of another type as unknown, without its data', () => {
    const event = decoder.decode(stored('Renamed', 1, { name: 'Grace Hopper' }));
    expect(event).toEqual({ type: 'Unknown', data: {} });
  });

  it('refuses a version that only a newer program can have written', () => {
    expect(() => decoder.decode(stored('Left', 2, {}))).toThrow(
      expect.objectContaining({
        code: 'EVENT_VERSION_UNKNOWN',
        details: { type: 'Left', version: 2 },
      }) as Error,
    );
  });
});
