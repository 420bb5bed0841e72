import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type ApiKey,
  keyIn,
  type KeyMap,
  keysIn,
  noKeys,
  withKey,
} from '../../../../src/features/keys/domain/key-map.js';

const key = (keyId: string, name = keyId): ApiKey => ({
  ...{ keyId, name, scopes: [], hash: '', rateLimit: null, expiresAt: null, test: false, owner: false },
  ...{ createdAt: '2026-05-01T10:00:00.000Z', revoked: false, revokedAt: null },
});

/** The nodes of a map. */
const nodesOf = (map: KeyMap): readonly KeyMap[] => ['parts' in map ? map.parts.flatMap(nodesOf) : [], map].flat();

describe('a map of keys', () => {
  it('has the newest form of each key, and earlier maps stay as they are', () => {
    const ids = fc.array(fc.string({ maxLength: 2 }), { maxLength: 300 });
    fc.assert(
      fc.property(ids, (added) => {
        const known = new Map<string, string>();
        let map = noKeys;
        for (const [at, id] of added.entries()) {
          const [before, count] = [map, known.size];
          known.set(id, String(at));
          map = withKey(map, key(id, String(at)));
          expect(keysIn(before)).toHaveLength(count);
          expect(keyIn(map, id)?.name).toBe(String(at));
        }
        expect(new Map(keysIn(map).map(({ keyId, name }) => [keyId, name]))).toEqual(known);
        expect(keyIn(map, 'unknown')).toBeUndefined();
      }),
    );
  });

  it('shares all but a few nodes with the one before, however many keys it has', () => {
    let map = noKeys;
    for (let id = 0; id < 5_000; id += 1) map = withKey(map, key(`k${String(id)}`));
    const before = new Set(nodesOf(map));
    const fresh = nodesOf(withKey(map, key('k7', 'changed'))).filter((node) => !before.has(node));
    expect(fresh.length).toBeLessThan(8);
    expect(Math.max(...nodesOf(map).map((node) => ('keys' in node ? node.keys.length : node.parts.length)))).toBe(16);
  });
});
