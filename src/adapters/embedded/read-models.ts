import type { Json } from '../../kernel/base/json.js';
import type { Clock } from '../../ports/clock.js';
import type {
  RowSearch,
  RowText,
  RowVector,
  StoredVector,
  TextQuery,
  VectorQuery,
  WordHit,
  WordQuery,
} from '../../ports/row-search.js';
import {
  READ_WAIT_MS,
  type CountedPlace,
  type CountQuery,
  type ListPage,
  type ListQuery,
  type Projection,
  type ReadModels,
} from '../../ports/read-models.js';
import {
  ABANDONED,
  type Build,
  type Changes,
  type Loaded,
  type ParkedEvent,
  type ReadModelWriter,
} from '../../ports/read-model-writer.js';
import type { PassagePage, PassageQuery, TextSearch } from '../../ports/text-search.js';
import { ReadWaiters, type WaitState } from '../shared/read-waiters.js';
import type { Database } from './database.js';
import { StreamMoved } from '../shared/stream-moved.js';
import { ReadModelTables } from './read-model-tables.js';
import type { EmbeddedRowTexts } from './row-texts.js';

type OpenBuild = { build: Build; readonly tables: ReadModelTables; readonly parked: Set<string> };
type BuildRow = { id: number; name: string; version: number; position: number; live: number };

/** Read models, their search and their write side in one SQLite file that only this process writes. */
export class EmbeddedReadModels implements ReadModels, RowSearch, TextSearch, ReadModelWriter {
  /** How long a read waits, in milliseconds. */
  readonly #waitMs: number;
  readonly #database: Database;
  readonly #waiters: ReadWaiters;
  readonly #kept = new Map<number, OpenBuild>();
  readonly #moveOn;
  readonly #park;
  #lastId = 0;

  /** @param database of `openReadsFile`; the caller closes it after the last use of this */
  constructor(database: Database, clock: Clock, waitMs = READ_WAIT_MS) {
    this.#waitMs = waitMs;
    this.#database = database;
    this.#waiters = new ReadWaiters(clock);
    this.#moveOn = database.prepare('UPDATE builds SET position = ? WHERE id = ?');
    this.#park = database.prepare('INSERT INTO parked VALUES (?, ?, ?, ?, ?, ?, ?)');
    const parked = database.prepare('SELECT stream FROM parked WHERE build = ?');
    for (const { live, ...rest } of database.prepare('SELECT * FROM builds ORDER BY id').all() as BuildRow[]) {
      const streams = (parked.all(rest.id) as { stream: string }[]).map(({ stream }) => stream);
      this.#keep({ ...rest, live: live === 1 }, streams);
      this.#lastId = rest.id;
    }
  }

  async get(projection: Projection, key: string): Promise<Json | null> {
    return this.#serving(projection)?.tables.get(key) ?? null;
  }

  async getAll(projection: Projection, keys: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    return this.#serving(projection)?.tables.getAll(keys) ?? new Map();
  }

  async list(projection: Projection, query: ListQuery): Promise<ListPage> {
    return this.#serving(projection)?.tables.list(query) ?? { rows: [], more: false };
  }

  async withoutVector(projection: Projection, query: TextQuery): Promise<readonly RowText[]> {
    return this.#texts(projection)?.withoutVector(query) ?? [];
  }

  async countWithoutVector(projection: Projection, query: TextQuery): Promise<number> {
    return this.#texts(projection)?.countWithoutVector(query) ?? 0;
  }

  async setVectors(projection: Projection, embedder: string, vectors: readonly RowVector[]): Promise<void> {
    this.#texts(projection)?.setVectors(embedder, vectors);
  }

  async vectors(projection: Projection, query: VectorQuery): Promise<readonly StoredVector[]> {
    return this.#texts(projection)?.vectors(query) ?? [];
  }

  async hasMeaningless(projection: Projection, query: Omit<VectorQuery, 'limit'>): Promise<boolean> {
    return this.#texts(projection)?.hasMeaningless(query) ?? false;
  }

  async byWords(projection: Projection, query: WordQuery): Promise<readonly WordHit[]> {
    const serving = this.#serving(projection);
    if (serving === undefined) return [];
    const { groups, ...anyGroup } = query;
    const hasGroups = groups !== undefined && serving.build.version === projection.version;
    return (await serving.tables.texts.byWords(hasGroups ? query : anyGroup)) ?? this.byWords(projection, query);
  }

  async passages(projection: Projection, query: PassageQuery): Promise<PassagePage> {
    return this.#serving(projection)?.tables.passages.find(query) ?? { hits: [], further: null };
  }

  async counts(projection: Projection, query: CountQuery): Promise<readonly CountedPlace[]> {
    return this.#serving(projection)?.tables.counts.find(query) ?? [];
  }

  async progress(projection: Projection, stream: string): Promise<number> {
    return this.#serving(projection)?.tables.progress(stream) ?? -1;
  }

  reached(projection: Projection, stream: string, revision: number, timeoutMs = this.#waitMs): Promise<boolean> {
    const check = (): WaitState => {
      if ((this.#awaited(projection)?.tables.progress(stream) ?? -1) >= revision) return 'reached';
      return this.#isStopped(projection, stream) ? 'never' : 'not yet';
    };
    return this.#waiters.wait(projection.name, stream, check, timeoutMs);
  }

  reachedPosition(projection: Projection, position: number, timeoutMs = this.#waitMs): Promise<boolean> {
    const check = (): WaitState =>
      (this.#awaited(projection)?.build.position ?? 0) >= position ? 'reached' : 'not yet';
    return this.#waiters.wait(projection.name, null, check, timeoutMs);
  }

  async open(projection: Projection): Promise<Build> {
    // A build whose tables lack an index serves readers until its replacement is swapped in.
    const usable = this.#named(projection.name).filter(
      ({ build, tables }) =>
        build.version === projection.version && build.position < ABANDONED && tables.isIndexedByTag,
    );
    const kept = usable.find(({ build }) => build.live) ?? usable.at(-1);
    if (kept === undefined) return this.begin(projection);
    if (kept.build.live) this.#drop(this.#unfinished(projection));
    return kept.build;
  }

  async reopen(projection: Projection, before: Build): Promise<Build | null> {
    const own = this.#kept.get(before.id);
    if (own !== undefined && own.build.position < ABANDONED) return own.build;
    const named = this.#named(projection.name);
    const isReplaced = named.some(({ build }) => build.live && build.version > projection.version);
    const isThere = named.some(({ build }) => build.version === projection.version);
    return isReplaced && !isThere ? null : this.open(projection);
  }

  async abandon({ id }: Build): Promise<void> {
    const kept = this.#of(id);
    this.#moveOn.run(ABANDONED, id);
    kept.build = { ...kept.build, position: ABANDONED };
  }

  async begin({ name, version }: Projection): Promise<Build> {
    this.#drop(this.#unfinished({ name, version }));
    // SQLite would reuse the id of a dropped one.
    const id = (this.#lastId += 1);
    this.#database.transaction(() => {
      this.#database.prepare('INSERT INTO builds VALUES (?, ?, ?, 0, 0)').run(id, name, version);
      new ReadModelTables(this.#database, id).create();
    });
    return this.#keep({ id, name, version, position: 0, live: false }, []).build;
  }

  async load({ id }: Build, keys: readonly string[], streams: readonly string[], bytes?: number): Promise<Loaded> {
    const { tables, parked } = this.#of(id);
    return { ...tables.load(keys, bytes), streams: tables.standings(streams, parked) };
  }

  async commit({ id }: Build, changes: Changes): Promise<boolean> {
    const kept = this.#goingOn(id);
    const earlier = kept.build.live ? undefined : this.#named(kept.build.name).find(({ build }) => build.live);
    try {
      this.#database.transaction(() => {
        kept.tables.write(changes, earlier?.tables);
        for (const { stream, revision, eventId, type, reason, at } of changes.parked) {
          this.#park.run(id, stream, revision, eventId, type, reason, at);
        }
        this.#moveOn.run(changes.position, id);
      });
    } catch (error) {
      if (error instanceof StreamMoved) return false;
      throw error;
    }
    kept.build = { ...kept.build, position: changes.position };
    for (const { stream } of changes.parked) kept.parked.add(stream);
    if (this.#waiters.any) {
      const streams = new Set([...changes.progress, ...changes.parked].map(({ stream }) => stream));
      this.#waiters.changed(kept.build.name, streams);
    }
    return true;
  }

  async swapIn({ id, name, version }: Build): Promise<void> {
    const kept = this.#goingOn(id);
    const old = this.#named(name).filter((other) => other !== kept && other.build.version <= version);
    this.#drop(old, () => this.#database.exec(`UPDATE builds SET live = 1 WHERE id = ${id}`));
    kept.build = { ...kept.build, live: true };
    this.#waiters.changed(name);
  }

  async parked(limit: number): Promise<readonly ParkedEvent[]> {
    const sql = `SELECT name AS projection, version, stream, revision, event_id AS eventId, type, reason, at
      FROM parked JOIN builds ON builds.id = parked.build ORDER BY name, stream LIMIT ?`;
    return this.#database.prepare(sql).all(limit) as ParkedEvent[];
  }

  async parkedCount(projections: readonly Pick<Projection, 'name' | 'version'>[]): Promise<number> {
    const counted = projections.flatMap((projection) => {
      const serving = this.#serving(projection);
      const isOwn = ({ build }: OpenBuild): boolean =>
        build.version === projection.version && build.position < ABANDONED;
      return this.#named(projection.name).filter((kept) => kept === serving || isOwn(kept));
    });
    return counted.reduce((count, { parked }) => count + parked.size, 0);
  }

  awaited(): boolean {
    return this.#waiters.any;
  }

  onAwaited(listener: () => void): () => void {
    return this.#waiters.onBegin(listener);
  }

  #keep(build: Build, parked: readonly string[]): OpenBuild {
    const kept = { build, tables: new ReadModelTables(this.#database, build.id), parked: new Set(parked) };
    this.#kept.set(build.id, kept);
    return kept;
  }

  #of(id: number): OpenBuild {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw new Error(`The build ${id} was dropped.`);
    return kept;
  }

  #goingOn(id: number): OpenBuild {
    const kept = this.#of(id);
    if (kept.build.position === ABANDONED) throw new Error(`The build ${id} was abandoned.`);
    return kept;
  }

  #named(name: string): readonly OpenBuild[] {
    return [...this.#kept.values()].filter(({ build }) => build.name === name);
  }

  #unfinished({ name, version }: Pick<Projection, 'name' | 'version'>): readonly OpenBuild[] {
    return this.#named(name).filter(({ build }) => build.version === version && !build.live);
  }

  /** Whether every build that may still bring readers the stream has stopped at it: the one that they see, and those of this version or newer. */
  #isStopped(projection: Projection, stream: string): boolean {
    const serving = this.#serving(projection);
    const going = this.#named(projection.name).filter(
      (kept) => kept.build.position < ABANDONED && (kept === serving || kept.build.version >= projection.version),
    );
    return going.length > 0 && going.every(({ parked }) => parked.has(stream));
  }

  /** The build that readers see, unless it was abandoned: then it has reached nothing that they wait for. */
  #awaited(projection: Projection): OpenBuild | undefined {
    const kept = this.#serving(projection);
    return kept?.build.position === ABANDONED ? undefined : kept;
  }

  /** The build that readers of a projection see. */
  #serving({ name, version }: Pick<Projection, 'name' | 'version'>): OpenBuild | undefined {
    const named = this.#named(name);
    return (
      named.find(({ build }) => build.live && build.version === version) ??
      named.filter(({ build }) => build.live).sort((a, b) => b.build.version - a.build.version)[0] ??
      named.findLast(({ build }) => build.version === version)
    );
  }

  #texts(projection: Projection): EmbeddedRowTexts | undefined {
    return this.#serving(projection)?.tables.texts;
  }

  /** Drops builds, in one transaction with what must happen `first`. */
  #drop(builds: readonly OpenBuild[], first?: () => void): void {
    if (builds.length === 0 && first === undefined) return;
    this.#database.transaction(() => {
      first?.();
      for (const { build, tables } of builds) {
        tables.drop();
        this.#database.exec(`DELETE FROM parked WHERE build = ${build.id}; DELETE FROM builds WHERE id = ${build.id};`);
      }
    });
    for (const { build } of builds) this.#kept.delete(build.id);
  }
}
