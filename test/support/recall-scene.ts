import { wordsOf } from '../../src/kernel/base/words.js';
import { calibrated } from '../../src/ports/calibrated.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { type Embedder, TextRefused } from '../../src/ports/embedder.js';
import { memories, type MemoryRow, memoryTag } from '../../projections/memories.js';
import { revisionOrder } from '../../src/kernel/read-models/row-order.js';
import { ManualClock } from './manual-clock.js';
import { MemoryReadModels } from './memory/read-models.js';

export const TENANT = 'studio';
export const STREAM = npcStream(TENANT, 'mira');

/** A memory as its projection makes it. */
export const memoryRow = (revision: number, text: string, more: Partial<MemoryRow> = {}): MemoryRow => ({
  kind: 'memory',
  memoryId: `m${String(revision)}`,
  text,
  type: 'observation',
  importance: 0.5,
  at: '2026-01-01T00:00:00.000Z',
  turnId: null,
  eventId: `e${String(revision)}`,
  revision,
  confirmedAt: null,
  stream: STREAM,
  ...more,
});

/** Read models with memories, without events. */
export class MemoryRows {
  readonly clock = new ManualClock();
  readonly models = new MemoryReadModels(this.clock);
  readonly #progress = new Map<string, number>();
  readonly #projection: typeof memories;

  constructor(projection = memories) {
    this.#projection = projection;
  }

  /** Adds memories, as a projector does; their stream is then at the last one's revision. */
  async store(...rows: readonly MemoryRow[]): Promise<void> {
    const build = await this.models.open(this.#projection);
    for (const row of rows) {
      const from = this.#progress.get(row.stream) ?? -1;
      await this.models.commit(build, {
        put: [
          {
            key: `${row.stream}/${row.memoryId}`,
            row,
            index: { partition: row.stream, order: revisionOrder(row.revision), tag: memoryTag(row.type) },
            search: {
              stream: row.stream,
              text: { text: row.text, words: wordsOf(row.text).join(' ') },
              group: this.#projection.textGroupOf?.(row) ?? null,
            },
          },
        ],
        remove: [],
        progress: [{ stream: row.stream, from, to: row.revision }],
        parked: [],
        position: row.revision + 1,
      });
      this.#progress.set(row.stream, row.revision);
    }
  }
}

/**
 * An embedder with vectors from the test: the numbers in a text, such as `1 0`, as a vector of unit length. It makes none from a text without numbers.
 * It counts the texts it embeds, can be down, and can refuse texts.
 */
export class NumberEmbedder implements Embedder {
  readonly id: string;
  readonly embedded: string[] = [];
  readonly urgent: boolean[] = [];
  /** A call with one of these texts fails as a whole. */
  readonly refused = new Set<string>();
  isAway = false;
  threads = 1;

  constructor(id = 'numbers@1') {
    this.id = id;
  }

  async embed(
    texts: readonly string[],
    { urgent, signal }: { readonly urgent: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly (Float32Array | null)[]> {
    signal?.throwIfAborted();
    if (this.isAway) throw new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
    if (texts.some((text) => this.refused.has(text))) throw new TextRefused();
    this.embedded.push(...texts);
    this.urgent.push(urgent);
    return texts.map(unitOf);
  }

  score(cosine: number): number {
    return calibrated(cosine, 0.5);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isAway = true;
  }
}

/** The vector of the numbers in a text; null if there are none. */
export const unitOf = (text: string): Float32Array | null => {
  const numbers = (text.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  const length = Math.hypot(...numbers);
  return length === 0 ? null : Float32Array.from(numbers, (each) => each / length);
};
