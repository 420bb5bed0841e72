import type { RecordedEvent } from '../../ports/event-store.js';
import type { Build, ReadModelWriter } from '../../ports/read-model-writer.js';

/** Revisions of a stream, both ends included. */
export type StreamGap = { readonly stream: string; readonly from: number; readonly to: number };

/**
 * The streams whose events here cannot be applied, because earlier or intermediate ones were not. The range goes from the first revision that is not
 * applied to the last one here.
 * @throws what the writer throws
 */
export const streamGaps = async (
  writer: Pick<ReadModelWriter, 'load'>,
  build: Build,
  events: readonly RecordedEvent[],
): Promise<readonly StreamGap[]> => {
  const revisions = new Map<string, Set<number>>();
  for (const { stream, revision } of events) {
    revisions.set(stream, (revisions.get(stream) ?? new Set()).add(revision));
  }
  const { streams } = await writer.load(build, [], [...revisions.keys()]);
  const gaps: StreamGap[] = [];
  for (const [stream, { revision: applied, parked }] of streams) {
    const fresh = [...(revisions.get(stream) ?? [])].filter((revision) => revision > applied);
    // Events out of order count too: one of them comes before its predecessor.
    const follow = fresh.every((revision, at) => revision === applied + 1 + at);
    if (!parked && !follow) gaps.push({ stream, from: applied + 1, to: Math.max(...fresh) });
  }
  return gaps;
};
