import type { ReadModelWriter } from '../../ports/read-model-writer.js';
import type { Feed } from './feed.js';

/** One partition of a feed that has `of` of them. */
export type PartitionPlace = { readonly key: string; readonly partition: number; readonly of: number };

/**
 * The progress of one partition in a build is stored as the progress of a stream that cannot exist: no stream name begins with a slash. It is written
 * in the same transaction as the rows. The write is refused if another process has moved it.
 */
export const placeOf = (partition: number, of: number): PartitionPlace => ({
  key: `/feed/${of}/${partition}`,
  partition,
  of,
});

/** The position up to which each partition of one build is handled, to this process's knowledge: possibly too low, never too high. */
export class PartitionProgress {
  readonly #writer: ReadModelWriter;
  readonly #feed: Feed;
  readonly #stored = new Map<string, number>();
  /** The positions read for all partitions, by partition count: more than one count only after it has changed. */
  readonly #known = new Set<number>();

  constructor(writer: ReadModelWriter, feed: Feed) {
    this.#writer = writer;
    this.#feed = feed;
  }

  /** The position up to which the partition is handled. Positions that are handled globally count here too. */
  reached({ key }: PartitionPlace): number {
    return Math.max(this.stored(key), this.#feed.build.position);
  }

  /** The stored value of the partition: the revision that a commit expects; -1 if nothing is stored. */
  stored(key: string): number {
    return this.#stored.get(key) ?? -1;
  }

  /** Reads the stored values of all partitions, unless they were read before. @throws what the writer throws */
  async know(counts: ReadonlySet<number>): Promise<void> {
    for (const of of counts) if (!this.#known.has(of)) await this.#read(of);
  }

  /** Reads them again, unless no other process has any of the partitions. @throws what the writer throws */
  async readOthers(counts: ReadonlySet<number>, owned: ReadonlySet<number>): Promise<void> {
    for (const of of counts) {
      if (placesOf(of).some(({ partition }) => !owned.has(partition))) await this.#read(of);
    }
  }

  /** Discards what was read, because another process writes too. */
  forget(): void {
    this.#stored.clear();
    this.#known.clear();
  }

  /** The position up to which the global order is handled once these partitions have moved. */
  positionWith(moved: ReadonlyMap<string, number>): number {
    const lowest = (of: number): number =>
      Math.min(...placesOf(of).map(({ key }) => moved.get(key) ?? this.stored(key)));
    return Math.max(this.#feed.build.position, ...[...this.#known].map(lowest));
  }

  /** Notes what a commit has written. */
  noted(moved: ReadonlyMap<string, number>): void {
    for (const [key, to] of moved) this.#stored.set(key, to);
  }

  async #read(of: number): Promise<void> {
    const keys = placesOf(of).map(({ key }) => key);
    const { streams } = await this.#writer.load(this.#feed.build, [], keys);
    for (const [key, { revision }] of streams) this.#stored.set(key, revision);
    this.#known.add(of);
  }
}

const placesOf = (of: number): readonly PartitionPlace[] =>
  Array.from({ length: of }, (_, partition) => placeOf(partition, of));
