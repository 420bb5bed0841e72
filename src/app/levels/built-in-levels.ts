import { type LevelSummary, summaryOf } from '../../domain/level/level-summary.js';
import type { Level } from '../../domain/level/level.js';
import { readMap } from '../../domain/level/read-map.js';
import { contentDigest } from '../../domain/shared/content-digest.js';
import { jcs, type Json } from '../../domain/shared/json.js';
import { inSlices } from '../../concurrency/in-slices.js';

/** A level that comes with the server. `map` is the JCS form of its map. */
export type BuiltInLevel = {
  readonly levelId: string;
  readonly digest: string;
  readonly map: string;
  readonly level: Level;
  readonly summary: LevelSummary;
};

/**
 * Reads the maps that come with the server.
 * @throws Error for a map that is no level, which is a defect of ours
 */
export const readBuiltInLevels = async (
  maps: readonly { readonly levelId: string; readonly map: Json }[],
): Promise<readonly BuiltInLevel[]> => {
  const levels: BuiltInLevel[] = [];
  for (const { levelId, map } of maps) {
    const reading = await inSlices(readMap(map, levelId));
    if ('problems' in reading) throw new Error(`The built-in level ${levelId}: ${JSON.stringify(reading.problems)}`);
    const text = jcs(map);
    const { level } = reading;
    levels.push({ levelId, digest: contentDigest(Buffer.from(text)), map: text, level, summary: summaryOf(level) });
  }
  return levels;
};
