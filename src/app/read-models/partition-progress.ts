import type { Build, ReadModelWriter } from '../../ports/read-model-writer.js';

/**
 * The progress of one partition in a build is stored as that of a stream that cannot exist: no stream name begins with a slash. It is written in the
 * same transaction as the rows. The write is refused when another process has moved it.
 */
const progressStream = (partition: number, of: number): string => `/feed/${of}/${partition}`;

/** One partition of a feed that has `of` of them. */
export type PartitionPlace = { readonly key: string; readonly partition: number; readonly of: number };

export const placeOf = (partition: number, of: number): PartitionPlace => ({
  key: progressStream(partition, of),
  partition,
  of,
});

/** Up to where each partition of one build is handled, as far as this process knows: never more than is true. */
export class PartitionProgress {
  readonly #writer: ReadModelWriter;
  readonly #build: Build;
  readonly #stored = new Map<string, number>();
  readonly #known = new Set<number>();
  #position: number;

  constructor(writer: ReadModelWriter, build: Build) {
    this.#writer = writer;
    this.#build = build;
    this.#position = build.position;
  }

  /** The global order is handled up to here, by any process. */
  get position(): number {
    return this.#position;
  }

  /** Up to where the partition is handled. What is handled globally counts here too. */
  reached({ key }: PartitionPlace): number {
    return Math.max(this.#stored.get(key) ?? -1, this.#position);
  }

  /** What is stored for the partition: the revision that a commit expects; -1 when nothing is stored. */
  stored({ key }: Pick<PartitionPlace, 'key'>): number {
    return this.#stored.get(key) ?? -1;
  }

  /** Reads what is stored for all partitions, unless it was read before. @throws what the writer throws */
  async know(of: number): Promise<void> {
    if (!this.#known.has(of)) await this.read(of);
  }

  /** Reads what is stored for all partitions. @throws what the writer throws */
  async read(of: number): Promise<void> {
    const { streams } = await this.#writer.load(this.#build, [], keysOf(of));
    for (const [key, { revision }] of streams) this.#stored.set(key, revision);
    this.#known.add(of);
  }

  /** Forgets what was read: another process writes too. */
  forget(): void {
    this.#stored.clear();
    this.#known.clear();
  }

  /** Up to where the global order is handled once these partitions, of `of` in all, have moved. */
  positionWith(of: number, moved: ReadonlyMap<string, number>): number {
    const lowest = keysOf(of).map((key) => moved.get(key) ?? this.#stored.get(key) ?? -1);
    return Math.max(this.#position, Math.min(...lowest));
  }

  /** Notes what a commit has written. */
  noted(moved: ReadonlyMap<string, number>, position: number): void {
    for (const [key, to] of moved) this.#stored.set(key, to);
    this.#position = Math.max(this.#position, position);
  }
}

const keysOf = (of: number): readonly string[] =>
  Array.from({ length: of }, (_, partition) => progressStream(partition, of));
