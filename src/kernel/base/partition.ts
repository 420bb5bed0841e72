/**
 * The partition of a stream among `count`: FNV-1a over its UTF-8 bytes, its bits mixed (the finaliser of MurmurHash3), modulo `count`. It must never
 * change, because the progress of partitions is recorded under it.
 */
export const partitionOf = (stream: string, count: number): number => {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(stream)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % count;
};
