import { levelFold } from './level-fold.js';
import { levelEvents, type LevelVersion } from './domain/events.js';
import { type Deletion, deleteLevel, isNewestMap, putLevel } from './domain/decide.js';
import { MAP_BYTES, PLAYED_BYTES, TENANT_MAP_BYTES } from './domain/bounds.js';
import { type LevelProblem, WHOLE_MAP } from './domain/problem.js';
import { evolveLevel, initialLevel, type LevelState } from './domain/state.js';
import { summaryOf } from './domain/summary.js';
import { readMap } from './domain/read-map.js';
import { contentDigest } from '../../kernel/crypto/content-digest.js';
import { jcsSlices } from '../../kernel/base/jcs-slices.js';
import type { Json } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';
import { levelStream } from '../../kernel/base/stream-names.js';
import { revisionAmong } from '../../kernel/base/version-places.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { type Command, runCommand } from '../../kernel/streams/run-command.js';

export type LevelStoreDeps = {
  readonly events: EventStore;
  readonly writers: StreamWriters;
  readonly clock: Clock;
  readonly archive: Pick<SoulArchive, 'stage' | 'read' | 'stagedBytes' | 'unstage'>;
};

/** A version as it was stored, and when. */
export type StoredLevel = { readonly put: LevelVersion; readonly at: string };

/** A tenant's levels, from their streams; their maps are in the archive. */
export type LevelStore = {
  /**
   * Stores a map. `created`: it is a new version.
   * @throws Rejection LEVEL_INVALID, LEVELS_FULL, and errors from the archive and the event store
   */
  put(levelId: string, map: Json, command: Command): Promise<StoredPut>;
  /**
   * Deletes a level, optionally with all of its versions and their maps. A repeat completes an unfinished deletion.
   * @throws Rejection LEVEL_NOT_FOUND, and errors from the archive and the event store
   */
  remove(deletion: Deletion, command: Command): Promise<{ readonly position: number }>;
  /** The newest version, or a given one, even of a deleted level; null if there is none. */
  find(tenant: string, levelId: string, version?: number): Promise<StoredLevel | null>;
  /** The JCS form of a map; null if the archive has lost it. */
  mapOf(digest: string): Promise<string | null>;
  /** Keeps a map or level that does not belong to any version until the given time, if there is room for it. Propagates errors from the archive. */
  keepUntil(tenant: string, digest: string, map: string, until: Date): Promise<void>;
};

type StoredPut = { readonly put: LevelVersion; readonly created: boolean; readonly position: number };

/** The latest representable moment: maps are never swept. */
const FOR_GOOD = new Date(8_640_000_000_000_000);

/** The archive owner of a tenant's maps: separate from its souls, which are limited by the number of waiting ones. No tenant id has capitals. */
const ownersOf = (tenant: string): string => `LEVELS-${shortDigest(tenant)}`;
/**
 * Each level has its own copies of its maps, so that they can be deleted without affecting identical maps of other levels. Maps stored after the
 * first versions were dropped are separate again, so that they survive, even while the dropped ones are being deleted.
 */
const ownerOf = (tenant: string, levelId: string, dropped: number): string =>
  `${ownersOf(tenant)}-${shortDigest(levelId)}${dropped === 0 ? '' : `-${dropped}`}`;

/** The archive owner of levels kept for sessions: they do not count as maps, and are swept. */
const playedBy = (tenant: string): string => `PLAYED-${shortDigest(tenant)}`;

const invalid = (problems: readonly LevelProblem[]): Rejection =>
  new Rejection('LEVEL_INVALID', { details: { problems } });

/** The archive has lost a map: uploading it again restores it. */
export const lostMap = ({ levelId, version }: Pick<LevelVersion, 'levelId' | 'version'>): Rejection =>
  new Rejection('LEVEL_NOT_FOUND', {
    message: 'The map of this level is missing or damaged. Upload it again.',
    details: { levelId, version },
  });

export const openLevelStore = (deps: LevelStoreDeps): LevelStore => {
  const { archive, events, writers } = deps;
  const requireRoom = async (tenant: string, bytes: number): Promise<void> => {
    const kept = await archive.stagedBytes(ownersOf(tenant), ownersOf(tenant));
    if (kept + bytes > TENANT_MAP_BYTES)
      throw new Rejection('LEVELS_FULL', { details: { mostBytes: TENANT_MAP_BYTES, bytes: kept } });
  };
  const dropMaps = async (tenant: string, levelId: string, dropped: number): Promise<void> => {
    const kept = new Map<string, { readonly digest: string; readonly tenant: string }>();
    let state = initialLevel;
    for await (const page of pagesOf(events, levelStream(tenant, levelId), { direction: 'forwards', from: 0 })) {
      for (const recorded of page.events) {
        const before = state.dropped;
        state = evolveLevel(state, recorded);
        const event = levelEvents.decode(recorded);
        if (event.type !== 'LevelPut' || before >= dropped) continue;
        const { digest } = event.data;
        const owner = ownerOf(tenant, levelId, before);
        kept.set(`${digest} ${owner}`, { digest, tenant: owner });
      }
    }
    for (const { digest, tenant: owner } of kept.values()) await archive.unstage(digest, { tenant: owner });
  };
  return {
    put: async (levelId, map, command) => {
      const { tenant } = command;
      const bytes = await inSlices(jcsSlices(map));
      if (bytes.length > MAP_BYTES) {
        const problem = `The map has ${bytes.length} bytes of JSON; the limit is ${MAP_BYTES}. Remove layers, or make the map smaller.`;
        throw invalid([{ ...WHOLE_MAP, problem }]);
      }
      const reading = await inSlices(readMap(map, levelId));
      if ('problems' in reading) throw invalid(reading.problems);
      const { level, warnings } = reading;
      const digest = contentDigest(bytes);
      const stream = levelStream(tenant, levelId);
      // An existing map is stored again, in case it was lost.
      const { state: before } = await writers.current(stream, levelFold);
      if (!isNewestMap(before, digest)) await requireRoom(tenant, bytes.length);
      const keep = ({ dropped }: LevelState): Promise<void> =>
        archive.stage(digest, bytes, { tenant: ownerOf(tenant, levelId, dropped), expiresAt: FOR_GOOD });
      // It is stored before an event names it.
      await keep(before);
      const content = { levelId, digest, bytes: bytes.length, ...summaryOf(level), warnings };
      const outcome = await runCommand(deps, stream, levelFold, command, (state) => putLevel(state, content));
      if (outcome.state.dropped > before.dropped) {
        // All versions were dropped in the meantime, possibly including the map that was stored above.
        await keep(outcome.state);
        await archive.unstage(digest, { tenant: ownerOf(tenant, levelId, before.dropped) });
      }
      const [recorded] = outcome.events.map((event) => levelEvents.decode(event));
      const put = recorded?.type === 'LevelPut' ? recorded.data : outcome.state.latest?.put;
      if (put === undefined) throw new Error('a level that was put has a version');
      return { put, created: recorded !== undefined, position: outcome.position };
    },
    remove: async (deletion, command) => {
      const { levelId, versions } = deletion;
      const stream = levelStream(command.tenant, levelId);
      const outcome = await runCommand(deps, stream, levelFold, command, (state) => deleteLevel(state, deletion));
      if (versions === 'all') await dropMaps(command.tenant, levelId, outcome.state.dropped);
      return outcome;
    },
    find: async (tenant, levelId, version) => {
      const stream = levelStream(tenant, levelId);
      const { state } = await writers.current(stream, levelFold);
      const { latest, deleted, dropped, places } = state;
      if (version !== undefined && version <= dropped) return null;
      if (version === undefined || version === latest?.put.version)
        return deleted && version === undefined ? null : latest;
      const revision = revisionAmong(places, latest?.put.version ?? 0, version);
      const recorded = revision === null ? undefined : await eventAt(events, stream, revision);
      const event = recorded && levelEvents.decode(recorded);
      return event?.type === 'LevelPut' ? { put: event.data, at: recorded?.meta.at ?? '' } : null;
    },
    keepUntil: async (tenant, digest, map, until) => {
      const owner = playedBy(tenant);
      const bytes = Buffer.from(map);
      // Without it, a session is lost only if a release changes the level before the session ends.
      if ((await archive.stagedBytes(owner)) + bytes.length > PLAYED_BYTES) return;
      await archive.stage(digest, bytes, { tenant: owner, expiresAt: until });
    },
    mapOf: async (digest) => {
      const bytes = await archive.read(digest);
      return bytes === null ? null : Buffer.from(bytes).toString('utf8');
    },
  };
};
