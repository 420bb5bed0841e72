/** What an append expects of its stream; a revision is below 2^63. */
export type Expected = 'any' | 'no_stream' | 'stream_exists' | bigint;

/** The cached data of a stream. `last` is -1 for a missing one; `knownAt` searches only memory. */
export type StreamView = {
  readonly last: number;
  readonly idAt: (revision: number) => string | undefined;
  readonly knownAt: (id: string) => number | undefined;
};

/** `repeated` is the revision at which the last of these events was written before. */
export type Verdict = 'write' | 'conflict' | { readonly repeated: number };

/**
 * Whether an append is written, refused, or was written before. Without a revision only memory is searched, with one the log itself. A restart
 * therefore forgets the ids of `any`, but never those of exact revisions. Known events followed by new ones are a conflict.
 */
export const judge = (expected: Expected, events: readonly { readonly id: string }[], stream: StreamView): Verdict => {
  const { last } = stream;
  if (expected === 'stream_exists' && last < 0) return 'conflict';
  if (expected === 'any' || expected === 'stream_exists') {
    let repeated: number | undefined;
    for (const [index, { id }] of events.entries()) {
      const known = stream.knownAt(id);
      if (known === undefined) return index === 0 ? 'write' : 'conflict';
      repeated = known;
    }
    return repeated === undefined ? 'write' : { repeated };
  }
  const revision = expected === 'no_stream' ? -1n : expected;
  if (revision === BigInt(last)) return 'write';
  if (revision > last || events.length === 0) return 'conflict';
  const first = Number(revision) + 1;
  return events.every(({ id }, index) => stream.idAt(first + index) === id)
    ? { repeated: first + events.length - 1 }
    : 'conflict';
};

/** How many ids are cached; the oldest are evicted first. */
const IDS_KEPT = 100_000;

/** Ids written since the start, each with the stream and revision where it was first written. */
export class KnownIds {
  readonly #places = new Map<string, { readonly stream: string; readonly revision: number }>();

  revisionOf(id: string, stream: string): number | undefined {
    const place = this.#places.get(id);
    return place?.stream === stream ? place.revision : undefined;
  }

  remember(id: string, stream: string, revision: number): void {
    if (this.#places.has(id)) return;
    this.#places.set(id, { stream, revision });
    if (this.#places.size <= IDS_KEPT) return;
    const oldest = this.#places.keys().next();
    if (oldest.done !== true) this.#places.delete(oldest.value);
  }
}
