import { type Json, jsonBytes } from '../../../src/kernel/base/json.js';
import { PAGE_BYTES, untilFull } from '../../../src/kernel/base/page-size.js';
import type { Clock } from '../../../src/ports/clock.js';
import {
  READ_WAIT_MS,
  type CountedPlace,
  type CountQuery,
  type ListPage,
  type ListQuery,
  type Count,
  type Projection,
  type ReadModels,
  type RowIndex,
} from '../../../src/ports/read-models.js';
import {
  ABANDONED,
  type Build,
  type Changes,
  type Loaded,
  type ParkedEvent,
  type ReadModelWriter,
} from '../../../src/ports/read-model-writer.js';
import type {
  RowSearch,
  RowText,
  RowVector,
  StoredVector,
  TextQuery,
  VectorQuery,
  WordHit,
  WordQuery,
} from '../../../src/ports/row-search.js';
import type { PassagePage, PassageQuery, TextSearch } from '../../../src/ports/text-search.js';
import { ReadWaiters, type WaitState } from '../../../src/adapters/shared/read-waiters.js';
import { MemoryPassages } from './passages.js';
import { isWithin, MemoryRowTexts } from './row-texts.js';
import { compareOrders } from '../../../src/kernel/read-models/row-order.js';

type MemoryBuild = {
  readonly id: number;
  readonly name: string;
  readonly version: number;
  position: number;
  live: boolean;
  readonly rows: Map<string, { readonly row: Json; readonly index: RowIndex }>;
  readonly texts: MemoryRowTexts;
  readonly passages: MemoryPassages;
  readonly counts: Map<string, Count & { count: number }>;
  readonly progress: Map<string, number>;
  readonly parked: Map<string, ParkedEvent>;
};

/** Read models, their search and their write side in memory: the definition of these ports. */
export class MemoryReadModels implements ReadModels, RowSearch, TextSearch, ReadModelWriter {
  /** How long a read waits, in milliseconds. */
  readonly #waitMs: number;
  readonly #waiters: ReadWaiters;
  #builds: MemoryBuild[] = [];
  #lastId = 0;

  constructor(clock: Clock, waitMs = READ_WAIT_MS) {
    this.#waitMs = waitMs;
    this.#waiters = new ReadWaiters(clock);
  }

  async get(projection: Projection, key: string): Promise<Json | null> {
    return this.#serving(projection)?.rows.get(key)?.row ?? null;
  }

  async getAll(projection: Projection, keys: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    const { rows } = this.#serving(projection) ?? { rows: none };
    return found(rows, keys);
  }

  async list(
    projection: Projection,
    { partition, tags, direction, beyond, within, limit, bytes = PAGE_BYTES }: ListQuery,
  ): Promise<ListPage> {
    const sign = direction === 'ascending' ? 1 : -1;
    const matching = [...(this.#serving(projection)?.rows ?? [])]
      .map(([key, { row, index }]) => ({ key, row, ...index }))
      .filter((found) => found.partition === partition && (tags === undefined || tags.includes(found.tag)))
      .filter(({ order }) => isWithin(order, within))
      .filter(({ order }) => beyond === undefined || sign * compareOrders(order, beyond) > 0)
      .sort((a, b) => sign * compareOrders(a.order, b.order))
      .map(({ key, order, row }) => ({ key, order, row }));
    const rows = [...untilFull(matching.slice(0, limit), ({ row }) => jsonBytes(row), bytes)];
    return { rows, more: rows.length < matching.length };
  }

  async withoutVector(projection: Projection, query: TextQuery): Promise<readonly RowText[]> {
    return this.#serving(projection)?.texts.withoutVector(query) ?? [];
  }

  async countWithoutVector(projection: Projection, query: TextQuery): Promise<number> {
    return this.#serving(projection)?.texts.countWithoutVector(query) ?? 0;
  }

  async setVectors(projection: Projection, embedder: string, vectors: readonly RowVector[]): Promise<void> {
    this.#serving(projection)?.texts.setVectors(embedder, vectors);
  }

  async vectors(projection: Projection, query: VectorQuery): Promise<readonly StoredVector[]> {
    return this.#serving(projection)?.texts.vectors(query) ?? [];
  }

  async hasMeaningless(projection: Projection, query: Omit<VectorQuery, 'limit'>): Promise<boolean> {
    return this.#serving(projection)?.texts.hasMeaningless(query) ?? false;
  }

  async byWords(projection: Projection, query: WordQuery): Promise<readonly WordHit[]> {
    const { groups, ...anyGroup } = query;
    const serving = this.#serving(projection);
    const hasGroups = groups !== undefined && serving?.version === projection.version;
    return serving?.texts.byWords(hasGroups ? query : anyGroup) ?? [];
  }

  async passages(projection: Projection, query: PassageQuery): Promise<PassagePage> {
    const build = this.#serving(projection);
    return build?.passages.find(build.rows, query) ?? { hits: [], further: null };
  }

  async counts(projection: Projection, query: CountQuery): Promise<readonly CountedPlace[]> {
    const { partition, from, to, after, limit } = query;
    const compare = (a: Pick<Count, 'place' | 'name'>, b: Pick<Count, 'place' | 'name'>): number =>
      compareOrders(a.place, b.place) || compareOrders(a.name, b.name);
    return [...(this.#serving(projection)?.counts.values() ?? [])]
      .filter(
        (of) => of.partition === partition && compareOrders(of.place, from) >= 0 && compareOrders(of.place, to) < 0,
      )
      .filter((of) => after === undefined || compare(of, after) > 0)
      .sort(compare)
      .slice(0, limit)
      .map(({ place, name, count }) => ({ place, name, count }));
  }

  async progress(projection: Projection, stream: string): Promise<number> {
    return this.#serving(projection)?.progress.get(stream) ?? -1;
  }

  reached(projection: Projection, stream: string, revision: number, timeoutMs = this.#waitMs): Promise<boolean> {
    const check = (): WaitState => {
      if ((this.#awaited(projection)?.progress.get(stream) ?? -1) >= revision) return 'reached';
      return this.#isStopped(projection, stream) ? 'never' : 'not yet';
    };
    return this.#waiters.wait(projection.name, stream, check, timeoutMs);
  }

  reachedPosition(projection: Projection, position: number, timeoutMs = this.#waitMs): Promise<boolean> {
    const check = (): WaitState => ((this.#awaited(projection)?.position ?? 0) >= position ? 'reached' : 'not yet');
    return this.#waiters.wait(projection.name, null, check, timeoutMs);
  }

  async open(projection: Projection): Promise<Build> {
    const same = this.#builds.filter(({ name, version }) => name === projection.name && version === projection.version);
    const usable = same.filter(({ position }) => position < ABANDONED);
    const kept = usable.find(({ live }) => live) ?? usable.at(-1);
    if (kept === undefined) return this.begin(projection);
    if (kept.live) this.#builds = this.#builds.filter((build) => build.live || !same.includes(build));
    return view(kept);
  }

  async reopen(projection: Projection, before: Build): Promise<Build | null> {
    const own = this.#builds.find(({ id }) => id === before.id);
    if (own !== undefined && own.position < ABANDONED) return view(own);
    const named = this.#builds.filter(({ name }) => name === projection.name);
    const isReplaced = named.some(({ live, version }) => live && version > projection.version);
    const isThere = named.some(({ version }) => version === projection.version);
    return isReplaced && !isThere ? null : this.open(projection);
  }

  async abandon(build: Build): Promise<void> {
    this.#kept(build).position = ABANDONED;
  }

  async begin({ name, version }: Projection): Promise<Build> {
    this.#builds = this.#builds.filter((build) => build.name !== name || build.version !== version || build.live);
    this.#lastId += 1;
    const empty = {
      rows: new Map(),
      texts: new MemoryRowTexts(),
      passages: new MemoryPassages(),
      counts: new Map(),
      progress: new Map(),
      parked: new Map(),
    } satisfies Partial<MemoryBuild>;
    const build: MemoryBuild = { id: this.#lastId, name, version, position: 0, live: false, ...empty };
    this.#builds.push(build);
    return view(build);
  }

  async load(build: Build, keys: readonly string[], streams: readonly string[], bound = Infinity): Promise<Loaded> {
    const { rows, progress, parked } = this.#kept(build);
    return {
      ...upTo(bound, rows, keys),
      streams: new Map(
        streams.map(
          (stream) => [stream, { revision: progress.get(stream) ?? -1, parked: parked.has(stream) }] as const,
        ),
      ),
    };
  }

  async commit(build: Build, changes: Changes): Promise<boolean> {
    const { name, version, rows, texts, passages, counts, progress, parked, position } = this.#kept(build);
    if (position === ABANDONED) throw new Error(`The build ${build.id} was abandoned.`);
    if (changes.progress.some(({ stream, from }) => (progress.get(stream) ?? -1) !== from)) return false;
    for (const { key, row, index } of changes.put) rows.set(key, { row, index });
    for (const key of changes.remove) rows.delete(key);
    texts.write(
      changes,
      this.#builds.find((other) => other.name === name && other.live && other.id !== build.id)?.texts,
    );
    passages.write(changes);
    for (const { count, ...of } of changes.counts ?? []) {
      const key = JSON.stringify([of.partition, of.place, of.name]);
      counts.set(key, { ...of, count: (counts.get(key)?.count ?? 0) + count });
    }
    for (const { stream, to } of changes.progress) progress.set(stream, to);
    for (const event of changes.parked) parked.set(event.stream, { projection: name, version, ...event });
    // Several projectors may write one build: the furthest position counts, however late another projector is.
    const kept = this.#kept(build);
    kept.position = Math.max(kept.position, changes.position);
    this.#waiters.changed(name, new Set([...changes.progress, ...changes.parked].map(({ stream }) => stream)));
    return true;
  }

  async swapIn(build: Build): Promise<void> {
    const kept = this.#kept(build);
    if (kept.position === ABANDONED) throw new Error(`The build ${build.id} was abandoned.`);
    kept.live = true;
    this.#builds = this.#builds.filter(
      ({ id, name, version }) => id === build.id || name !== build.name || version > build.version,
    );
    this.#waiters.changed(build.name);
  }

  async parked(limit: number): Promise<readonly ParkedEvent[]> {
    return this.#builds
      .flatMap(({ parked }) => [...parked.values()])
      .sort((a, b) => compareOrders(a.projection, b.projection) || compareOrders(a.stream, b.stream))
      .slice(0, limit);
  }

  async parkedCount(projections: readonly Pick<Projection, 'name' | 'version'>[]): Promise<number> {
    const isCounted = (build: MemoryBuild): boolean =>
      projections.some(
        (projection) =>
          build === this.#serving(projection) ||
          (build.name === projection.name && build.version === projection.version && build.position < ABANDONED),
      );
    return this.#builds.filter(isCounted).reduce((count, { parked }) => count + parked.size, 0);
  }

  awaited(): boolean {
    return this.#waiters.any;
  }

  onAwaited(listener: () => void): () => void {
    return this.#waiters.onBegin(listener);
  }

  #kept(build: Build): MemoryBuild {
    const kept = this.#builds.find(({ id }) => id === build.id);
    if (kept === undefined) throw new Error(`The build ${build.id} of ${build.name} was dropped.`);
    return kept;
  }

  /** Whether every build that may still bring readers the stream has stopped at it: the live one, and those of this version or newer. */
  #isStopped(projection: Projection, stream: string): boolean {
    const serving = this.#serving(projection);
    const going = this.#builds.filter(
      (build) =>
        build.name === projection.name &&
        build.position < ABANDONED &&
        (build === serving || build.version >= projection.version),
    );
    return going.length > 0 && going.every(({ parked }) => parked.has(stream));
  }

  /** The build that readers see, unless it was abandoned: then it has reached nothing that they wait for. */
  #awaited(projection: Projection): MemoryBuild | undefined {
    const build = this.#serving(projection);
    return build?.position === ABANDONED ? undefined : build;
  }

  /** The build that readers of a projection see. */
  #serving({ name, version }: Pick<Projection, 'name' | 'version'>): MemoryBuild | undefined {
    const named = this.#builds.filter((build) => build.name === name);
    return (
      named.find((build) => build.live && build.version === version) ??
      named.filter((build) => build.live).sort((a, b) => b.version - a.version)[0] ??
      named.findLast((build) => build.version === version)
    );
  }
}

const none: MemoryBuild['rows'] = new Map();

const found = (rows: MemoryBuild['rows'], keys: readonly string[]): ReadonlyMap<string, Json> =>
  new Map(keys.flatMap((key) => (rows.has(key) ? [[key, rows.get(key)?.row ?? null] as const] : [])));

/** The rows of the keys, up to the row that brings them to `bound` bytes. */
const upTo = (bound: number, rows: MemoryBuild['rows'], keys: readonly string[]): Omit<Loaded, 'streams'> => {
  const loaded = new Map<string, Json>();
  let bytes = 0;
  let looked = 0;
  for (const [at, key] of keys.entries()) {
    const kept = rows.get(key);
    if (kept === undefined) continue;
    if (bytes >= bound) return { rows: loaded, keys: looked, bytes };
    loaded.set(key, kept.row);
    bytes += jsonBytes(kept.row);
    looked = at + 1;
  }
  return { rows: loaded, keys: keys.length, bytes };
};

const view = ({ id, name, version, position, live }: MemoryBuild): Build => ({ id, name, version, position, live });
