import { LRUCache } from 'lru-cache';

import { isStanding, memories, type MemoryRow } from '../../../projections/memories.js';
import { revisionOrder } from '../../kernel/read-models/row-order.js';
import { nearRepeatOf } from './domain/near-repeat.js';
import { mindFold } from '../npcs/mind-fold.js';
import { hearersWith, isKeptFrom } from './domain/kept-apart.js';
import { onlyAsks } from './domain/only-asks.js';
import { scoreOf } from './domain/score.js';
import { defined } from '../../kernel/base/defined.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { Clock } from '../../ports/clock.js';
import type { Embedder } from '../../ports/embedder.js';
import type { EventStore } from '../../ports/event-store.js';
import type { OrderRange, ReadModels } from '../../ports/read-models.js';
import type { VectorSearch } from '../../ports/vector-search.js';
import { waitForStream } from '../../kernel/read-models/read-wait.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { Wanted } from './best-candidates.js';
import { byScore, type Candidate } from './candidates.js';
import { type EmbeddingDeps, vectorsUnlessRefused } from './embed-lacking.js';
import { searchParts } from './search-parts.js';
import { VectorCache } from './vector-cache.js';
import { type VisibleRange, visibleRange } from './visible-range.js';

/** `asOf` and `minRevision` are revisions; the read model must have reached the latter. Without `types` and `minImportance` all memories count. */
export type RecallQuery = {
  readonly tenant: string;
  readonly npcId: string;
  readonly query: string;
  readonly limit: number;
  readonly minScore: number;
  readonly types?: readonly string[];
  readonly minImportance?: number;
  readonly asOf?: number;
  readonly minRevision?: number;
  /**
   * Pure questions (only-asks.ts) only fill the places that statements leave, and those that nearly repeat the query are left out. Of memories with the
   * same words one is used.
   */
  readonly statementsFirst?: boolean;
  /** The id of the player for whom it is: what others told is left out, unless the mind shares it. */
  readonly player?: string;
};

export type Recalled = {
  /** Best first; the newest first among equally good ones. */
  readonly memories: readonly {
    readonly row: MemoryRow;
    readonly score: number;
    readonly scoreParts: Readonly<Record<string, number>>;
  }[];
  /** The embedder that compared meanings. */
  readonly embedder: string;
  /** How many of the visible memories have no vector yet, at most PENDING_COUNTED. */
  readonly pending: number;
  /** What was compared by its words because the embedder makes no vector from it: the query, or some memories of the mind. */
  readonly byWords: 'query' | 'memories' | null;
  /** The last revision of the mind that was seen, -1 if there is none. */
  readonly revision: number;
};

/**
 * The memories of a mind that answer a query, now or as of an earlier revision. It waits for the read model as lists do, and first embeds the texts
 * of its mind that have no vector. Texts that still have none are compared by their words.
 * @throws Rejection READ_MODEL_BEHIND, EMBEDDER_UNAVAILABLE, BUSY; the reason of `signal`; what the event store and the read models throw
 */
export type Recall = (asked: RecallQuery, signal?: AbortSignal) => Promise<Recalled>;

export type RecallDeps = EmbeddingDeps & {
  readonly embedder: Embedder;
  readonly events: EventStore;
  readonly writers: StreamWriters;
  readonly readModels: ReadModels;
  readonly vectorSearch: VectorSearch;
  readonly clock: Clock;
};

/** The part of a mind that a recall sees. */
type SeenRange = { readonly within: OrderRange } & Pick<VisibleRange, 'someRetracted'>;

/** How many rows that contain words of the query are looked at, including those that have a vector. */
const WORD_HITS = 1_000;
/** How many queries are remembered that the embedder refuses. */
const REFUSED_QUERIES = 1_000;

/** @param cacheBytes how much memory the vectors of minds may take */
export const createRecall = (deps: RecallDeps, cacheBytes: number): Recall => {
  const { rowSearch, embedder, readModels, vectorSearch, clock } = deps;
  const cache = new VectorCache(deps, cacheBytes);

  const refused = new LRUCache<string, true>({ max: REFUSED_QUERIES });

  /** The meaning of a query; null if it has none to the embedder. A query that is always refused has none, so its words are used. */
  const queryVector = async (query: string, signal?: AbortSignal): Promise<Float32Array | null> => {
    const digest = shortDigest(query);
    if (refused.has(digest)) return null;
    const vectors = await vectorsUnlessRefused(embedder, [query], { urgent: true, ...defined({ signal }) });
    if (vectors === null) refused.set(digest, true);
    return vectors?.[0] ?? null;
  };

  const rowsOf = async (candidates: readonly Candidate[]): Promise<ReadonlyMap<string, MemoryRow>> => {
    const keys = candidates.map(({ key }) => key);
    // Only memories have texts, so only memories are found.
    return (await readModels.getAll(memories, keys)) as ReadonlyMap<string, unknown> as ReadonlyMap<string, MemoryRow>;
  };

  /** What is wanted of a mind; `questions` are those of the candidates that the search saw, best first. */
  const wantedOf = (
    { query, limit, minScore, types, minImportance = 0, statementsFirst = false, asOf, player }: RecallQuery,
    { someRetracted }: SeenRange,
  ): Wanted & { questions(): readonly Candidate[] } => {
    let questions: readonly Candidate[] = [];
    const wanted = { limit, minScore, questions: () => questions };
    const takesAll = types === undefined && minImportance <= 0 && !statementsFirst && player === undefined;
    if (takesAll && someRetracted !== true) return wanted;
    const told = new Set<string>();
    const repeatsQuery = nearRepeatOf(query);
    /** The same words match equally well, and add no information. */
    const isRepeat = ({ text }: MemoryRow): boolean => {
      const digest = shortDigest(text);
      if (told.has(digest)) return true;
      told.add(digest);
      return false;
    };
    const isAllowed = (row: MemoryRow): boolean =>
      isStanding(row, asOf) &&
      !isKeptFrom(player, row) &&
      (types?.includes(row.type) ?? true) &&
      row.importance >= minImportance;
    const accept = async (candidates: readonly Candidate[]): Promise<readonly Candidate[]> => {
      const rows = await rowsOf(candidates);
      const allowed = candidates.flatMap((candidate) => {
        const row = rows.get(candidate.key);
        return row !== undefined && isAllowed(row) ? [{ candidate, row }] : [];
      });
      if (!statementsFirst) return allowed.map(({ candidate }) => candidate);
      const fresh = allowed.filter(({ row }) => !isRepeat(row));
      const asking = fresh.filter(({ row }) => onlyAsks(row));
      // Questions are needed only if statements leave places, and then the search sees all candidates.
      const added = asking.filter(({ row }) => !repeatsQuery(row.text)).map(({ candidate }) => candidate);
      questions = [...questions, ...added].sort(byScore).slice(0, limit);
      const asked = new Set(asking);
      return fresh.filter((one) => !asked.has(one)).map(({ candidate }) => candidate);
    };
    return { ...wanted, accept };
  };

  /** A mind is seen up to the revision of the read model; later memories of its stream are found by the next recall. */
  const rangeOf = async (stream: string, asOf: number | undefined, revision: number): Promise<SeenRange | null> => {
    const visible = await visibleRange(deps, stream, asOf === undefined ? 'now' : { revision: asOf }, revision);
    if (visible === null) return null;
    const seen = revisionOrder(revision);
    const { above, upTo = seen, someRetracted } = visible;
    return { within: { ...defined({ above }), upTo: upTo < seen ? upTo : seen }, ...defined({ someRetracted }) };
  };

  /** The player whom others' memories are kept from; undefined if the mind keeps nothing from anybody. */
  const listenerOf = async (stream: string, player: string | undefined): Promise<string | undefined> => {
    if (player === undefined) return undefined;
    const { state } = await deps.writers.current(stream, mindFold);
    return state.players === 'shared' ? undefined : player;
  };

  return async ({ player, ...given }, signal) => {
    const { tenant, npcId, query, asOf, minRevision } = given;
    const stream = npcStream(tenant, npcId);
    const asked = { ...given, ...defined({ player: await listenerOf(stream, player) }) };
    await waitForStream(deps, memories, stream, minRevision);
    const revision = await readModels.progress(memories, stream);
    const seen = revisionOrder(Math.max(0, revision));
    const visible = revision < 0 ? null : await rangeOf(stream, asOf, revision);
    if (visible === null) return { memories: [], embedder: embedder.id, pending: 0, byWords: null, revision };

    const range = visible.within;
    // One after the other, so that loading the model does not use up the time for the mind's texts.
    const vector = await queryVector(query, signal);
    const mind = await cache.of({ stream, within: range }, seen, signal);
    // Otherwise what others told would hide what this player may hear, and change its score.
    const heard = asked.player === undefined ? {} : { groups: hearersWith(asked.player) };
    const isByWords = vector === null || mind.wordsCount;
    const hits = isByWords
      ? await rowSearch.byWords(memories, { text: query, stream, within: range, ...heard, limit: WORD_HITS })
      : [];
    const meaning = vector && { search: vectorSearch, vector, score: (cosine: number) => embedder.score(cosine) };
    const wanted = wantedOf(asked, visible);
    const { best: statements, wordsOnly } = await searchParts(mind.parts, { meaning, hits, range, wanted, signal });
    const best = [...statements, ...wanted.questions()].slice(0, asked.limit);

    const rows = await rowsOf(best);
    const words = new Map(hits.map(({ key, score }) => [key, score]));
    const nowMs = clock.now().getTime();
    const found = best.flatMap(({ key, score: likeness }) => {
      const row = rows.get(key);
      if (row === undefined) return [];
      const { score, parts: scoreParts } = scoreOf({
        meaning: wordsOnly.has(key) ? null : likeness,
        words: words.get(key) ?? 0,
        importance: row.importance,
        ageMs: nowMs - Date.parse(row.at),
      });
      return [{ row, score, scoreParts }];
    });
    const byWords = vector === null ? 'query' : mind.hasMeaningless ? 'memories' : null;
    return { memories: found, embedder: embedder.id, pending: mind.pending, byWords, revision };
  };
};
