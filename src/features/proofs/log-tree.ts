import { type Edge, fromHex, peakSpans, type Span, splitOf } from './domain/edge.js';
import { leafHash } from './domain/leaf.js';
import { drained } from '../../kernel/base/sliced.js';
import { hashNode, merkleRoot } from '../../kernel/crypto/merkle.js';
import type { EventStore } from '../../ports/event-store.js';
import { batchAt } from './log.js';

/** A tree at a checkpoint. */
type Tree = { readonly size: number; readonly edge: Edge };
/** A batch of leaves, hashed, with the edge before it. */
type Batch = { readonly size: number; readonly before: Edge; readonly hashes: readonly Uint8Array[] };

/** The root of a complete subtree that a batch completes, or that is a peak before it. */
const rootWithin = (batch: Batch, { from, to }: Span): Uint8Array => {
  if (from >= batch.size) return drained(merkleRoot(batch.hashes.slice(from - batch.size, to - batch.size)));
  const peak = peakSpans(batch.size).findIndex((span) => span.from === from && span.to === to);
  if (peak >= 0) return fromHex(batch.before[peak]?.hash ?? '');
  const middle = from + (to - from) / 2;
  return hashNode(rootWithin(batch, { from, to: middle }), rootWithin(batch, { from: middle, to }));
};

const isWhole = ({ from, to }: Span): boolean => {
  const width = to - from;
  return width === 1 || (splitOf(width) * 2 === width && from % width === 0);
};

/**
 * Roots of parts of a log's tree, from the events of the log. A complete subtree is completed by one batch, which holds the earlier roots and where
 * they were completed: so one path from the root down needs at most one batch for each level, 20 for a million leaves.
 */
export const openLogTree = (events: Pick<EventStore, 'read'>, stream: string, { size, edge }: Tree) => {
  const batches = new Map<number, Promise<Batch>>();
  const load = async (revision: number): Promise<Batch> => {
    const { size: before, before: peaks, leaves } = await batchAt(events, stream, revision);
    return { size: before, before: peaks, hashes: leaves.map(leafHash) };
  };
  const batch = (revision: number): Promise<Batch> => {
    const known = batches.get(revision) ?? load(revision);
    batches.set(revision, known);
    return known;
  };
  const wholeRoot = async (wanted: Span): Promise<Uint8Array> => {
    const spans = peakSpans(size);
    const index = spans.findIndex(({ from, to }) => from <= wanted.from && wanted.to <= to);
    let [part, at] = [spans[index], edge[index]?.at];
    if (part === undefined || at === undefined) throw new Error('the tree has no such part');
    while (part.from !== wanted.from || part.to !== wanted.to) {
      const middle: number = part.from + (part.to - part.from) / 2;
      if (wanted.from >= middle) {
        // The last leaf of a subtree is also the last leaf of its right half.
        part = { from: middle, to: part.to };
        continue;
      }
      const holder: Batch = await batch(at);
      part = { from: part.from, to: middle };
      if (middle > holder.size) continue;
      const peak = peakSpans(holder.size).findIndex(({ to }) => to === middle);
      const earlier = holder.before[peak]?.at;
      if (earlier === undefined) throw new Error('an edge of the log does not fit its size');
      at = earlier;
    }
    return rootWithin(await batch(at), wanted);
  };
  const rootOf = async (span: Span): Promise<Uint8Array> => {
    if (isWhole(span)) return wholeRoot(span);
    const middle = span.from + splitOf(span.to - span.from);
    return hashNode(await rootOf({ from: span.from, to: middle }), await rootOf({ from: middle, to: span.to }));
  };
  return {
    /** The roots of these parts, each computed from the leaves and edges in the log. @throws Error if the log contradicts itself */
    roots: async (spans: readonly Span[]): Promise<readonly Uint8Array[]> => {
      const roots: Uint8Array[] = [];
      for (const span of spans) roots.push(await rootOf(span));
      return roots;
    },
  };
};
