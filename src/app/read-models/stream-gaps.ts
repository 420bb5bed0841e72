import type { RecordedEvent } from '../../ports/event-store.js';
import type { Build, ReadModelWriter } from '../../ports/read-model-writer.js';

/** Revisions of a stream, both ends included. */
export type Lacking = { readonly stream: string; readonly from: number; readonly to: number };

/**
 * The streams whose events here cannot be applied, because others before or between them were not. The range goes from the first revision that is not
 * applied to the last one here.
 * @throws what the writer throws
 */
export const lackingStreams = async (
  writer: Pick<ReadModelWriter, 'load'>,
  build: Build,
  events: readonly RecordedEvent[],
): Promise<readonly Lacking[]> => {
  const revisions = new Map<string, Set<number>>();
  for (const { stream, revision } of events) {
    revisions.set(stream, (revisions.get(stream) ?? new Set()).add(revision));
  }
  const { streams } = await writer.load(build, [], [...revisions.keys()]);
  const lacking: Lacking[] = [];
  for (const [stream, { revision: applied, parked }] of streams) {
    const here = [...(revisions.get(stream) ?? [])].filter((revision) => revision > applied);
    const to = Math.max(applied, ...here);
    // Events out of order count as lacking: one of them comes before its predecessor.
    if (!parked && (here.length < to - applied || !isSorted(here))) lacking.push({ stream, from: applied + 1, to });
  }
  return lacking;
};

const isSorted = (numbers: readonly number[]): boolean =>
  numbers.every((n, at) => at === 0 || n > (numbers[at - 1] ?? 0));
