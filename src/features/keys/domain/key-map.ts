import type { TenantEvent } from './events.js';

export type KeyAsIssued = Extract<TenantEvent, { type: 'KeyIssued' }>['data'];

export type ApiKey = KeyAsIssued & { readonly revoked: boolean; readonly revokedAt: string | null };

/** How many keys a leaf holds before it becomes a branch, and how many bits of a hash choose one of its parts. */
const LEAF_KEYS = 16;
const BITS = 4;
/** A leaf this deep holds all keys that are left: the hash has no more bits. */
const DEEPEST = 32 / BITS;

/**
 * Keys by their ids. It never changes: a map with one more key shares all but a few nodes with the one before, so that a tenant's stream is folded in
 * time that grows with its length, however many keys were ever issued.
 */
export type KeyMap = { readonly keys: readonly ApiKey[] } | { readonly parts: readonly KeyMap[] };

export const noKeys: KeyMap = { keys: [] };
const branch: KeyMap = { parts: Array<KeyMap>(2 ** BITS).fill(noKeys) };

/** FNV-1a, of 32 bits. */
const hashOf = (keyId: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < keyId.length; at += 1) hash = Math.imul(hash ^ keyId.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};

const partOf = (hash: number, depth: number): number => (hash >>> (depth * BITS)) & (2 ** BITS - 1);

/** The key with this id, if there is one. */
export const keyIn = (map: KeyMap, keyId: string): ApiKey | undefined => {
  const hash = hashOf(keyId);
  let node = map;
  for (let depth = 0; 'parts' in node; depth += 1) node = node.parts[partOf(hash, depth)] ?? noKeys;
  return node.keys.find((key) => key.keyId === keyId);
};

const placed = (node: KeyMap, key: ApiKey, hash: number, depth: number): KeyMap => {
  if ('parts' in node) {
    const at = partOf(hash, depth);
    return { parts: node.parts.with(at, placed(node.parts[at] ?? noKeys, key, hash, depth + 1)) };
  }
  const known = node.keys.findIndex(({ keyId }) => keyId === key.keyId);
  const keys = known < 0 ? [...node.keys, key] : node.keys.with(known, key);
  if (keys.length <= LEAF_KEYS || depth === DEEPEST) return { keys };
  return keys.reduce<KeyMap>((parts, one) => placed(parts, one, hashOf(one.keyId), depth), branch);
};

/** The map with this key, in place of the one with its id if there is one. */
export const withKey = (map: KeyMap, key: ApiKey): KeyMap => placed(map, key, hashOf(key.keyId), 0);

/** Every key, in no particular order. */
export const keysIn = (map: KeyMap): readonly ApiKey[] => ('keys' in map ? map.keys : map.parts.flatMap(keysIn));
