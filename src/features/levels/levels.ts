import { LRUCache } from 'lru-cache';

import { generateLevel } from './domain/generate.js';
import type { LevelRef } from './domain/ref.js';
import { type LevelSummary, summaryOf } from './domain/summary.js';
import type { Level } from './domain/level.js';
import { readMap } from './domain/read-map.js';
import { isClientId } from '../../kernel/base/client-id.js';
import { contentDigest } from '../../kernel/crypto/content-digest.js';
import { jcs, type Json } from '../../kernel/base/json.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { type LevelStore, type LevelStoreDeps, lostMap, openLevelStore } from './level-store.js';

export type OpenedLevel = { readonly level: Level; readonly ref: LevelRef };

/** A level that is included in the server. `map` is the JCS form of its map. */
export type BuiltInLevel = {
  readonly levelId: string;
  readonly digest: string;
  readonly map: string;
  readonly level: Level;
  readonly summary: LevelSummary;
};

/**
 * Reads the maps that are included in the server.
 * @throws Error for a map that is not a level, which is a defect of the server
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

/** The levels of this server. */
export type Levels = LevelStore & {
  /** In the order of lists. A session that names no level plays the first. */
  readonly builtIn: readonly BuiltInLevel[];
  /**
   * The level with a name, studied for play: the built-in one, otherwise the registered one, otherwise one generated from name and seed. Raises
   * LEVEL_NOT_FOUND if its map is lost, and errors from the event store and the archive.
   */
  openLevel(tenant: string, name: string | undefined, seed: number): Promise<OpenedLevel>;
  /**
   * Keeps a level that a release may change (a built-in or generated one) for a session that plays it until the given time. Propagates errors from
   * the archive.
   */
  keepForSession(tenant: string, opened: OpenedLevel, until: Date): Promise<void>;
  /**
   * Exactly the level that was opened with this seed, studied for play, whatever has happened to its name and to this server since; null if it is
   * lost. Only for sessions.
   */
  levelOf(ref: LevelRef, seed: number): Promise<Level | null>;
  /** A built-in or generated level identical to the one that was opened; null if this server has none. Reads no tenant's data. */
  ownLevelOf(ref: LevelRef, seed: number): Level | null;
};

/** How many bytes of maps and generated levels are cached as levels. */
const KEPT_BYTES = 32 * 1024 * 1024;

const generated = (name: string, seed: number): OpenedLevel & { readonly bytes: number } => {
  const level = generateLevel(name, seed);
  const bytes = Buffer.from(jcs(level));
  const ref = { levelId: name, version: null, digest: contentDigest(bytes), generated: true };
  return { level, ref, bytes: bytes.length };
};

type LevelsDeps = LevelStoreDeps & {
  /** Precomputes the lookups that playing a level needs. It returns the same level, immediately if it was studied before. */
  readonly study: (level: Level) => Sliced<Level>;
};

export const openLevels = ({ study, ...deps }: LevelsDeps, builtIn: readonly BuiltInLevel[]): Levels => {
  const store = openLevelStore(deps);
  const kept = new LRUCache<string, Level>({ maxSize: KEPT_BYTES });
  const keyOf = ({ digest, levelId, generated: made }: LevelRef): string => `${digest} ${String(made)} ${levelId}`;

  const makeAgain = (ref: LevelRef, seed: number): Level | null => {
    const { level, ref: made, bytes } = generated(ref.levelId, seed);
    if (made.digest !== ref.digest) return null;
    kept.set(keyOf(ref), level, { size: bytes });
    return level;
  };
  /** The stored form: its map or, for a generated one, the level as the release that opened it made it. */
  const readAgain = async (ref: LevelRef): Promise<Level | null> => {
    const text = await store.mapOf(ref.digest);
    if (text === null) return null;
    const content = JSON.parse(text) as Json;
    const reading = ref.generated
      ? { level: content as unknown as Level }
      : await inSlices(readMap(content, ref.levelId, true));
    if ('problems' in reading) return null;
    kept.set(keyOf(ref), reading.level, { size: text.length });
    return reading.level;
  };
  const ownLevelOf = (ref: LevelRef, seed: number): Level | null =>
    ref.generated
      ? (kept.get(keyOf(ref)) ?? makeAgain(ref, seed))
      : (builtIn.find(({ levelId, digest }) => levelId === ref.levelId && digest === ref.digest)?.level ?? null);
  // A session requests its level at every turn, so the cache is checked before a level is generated or read again.
  const levelOf = async (ref: LevelRef, seed: number): Promise<Level | null> => {
    const level =
      kept.get(keyOf(ref)) ?? (ref.version === null ? ownLevelOf(ref, seed) : null) ?? (await readAgain(ref));
    return level === null ? null : inSlices(study(level));
  };
  return {
    ...store,
    builtIn,
    levelOf,
    ownLevelOf,
    keepForSession: async (tenant, { level, ref }, until) => {
      if (ref.version !== null) return;
      const map = ref.generated ? jcs(level) : builtIn.find(({ digest }) => digest === ref.digest)?.map;
      if (map !== undefined) await store.keepUntil(tenant, ref.digest, map, until);
    },
    openLevel: async (tenant, name, seed) => {
      const own = name === undefined ? builtIn[0] : builtIn.find(({ levelId }) => levelId === name);
      if (own !== undefined) {
        const { levelId, digest, level } = own;
        return { level: await inSlices(study(level)), ref: { levelId, version: null, digest, generated: false } };
      }
      const levelId = name ?? '';
      const found = isClientId(levelId) ? await store.find(tenant, levelId) : null;
      if (found === null) {
        const { level, ref } = generated(levelId, seed);
        return { level: await inSlices(study(level)), ref };
      }
      const { version, digest } = found.put;
      const ref = { levelId, version, digest, generated: false };
      const level = await levelOf(ref, seed);
      // A name that has a level never refers to another one.
      if (level === null) throw lostMap(found.put);
      return { level, ref };
    },
  };
};
