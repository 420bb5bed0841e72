import { openRulesets } from '../../src/features/rules/rulesets.js';
import { inSlices } from '../../src/kernel/concurrency/in-slices.js';
import { createMindReplay } from '../../src/features/replays/replay-mind.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { pagesOf } from '../../src/kernel/streams/stream-pages.js';
import { parseNpcStream } from '../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { allEvents } from './all-events.js';
import { ManualClock } from './manual-clock.js';

/**
 * Replays every decision of the minds of a store, with the rules in force at the time.
 * @param streams all streams of the store, if they are known: to find them, the whole store is read
 * @returns how many decisions were the same, and one line for each that was not
 */
export const replayAll = async (
  events: EventStore,
  streams?: ReadonlySet<string>,
): Promise<{ readonly same: number; readonly others: readonly string[] }> => {
  const rulesets = openRulesets(new StreamWriters(events, new ManualClock()), events);
  let same = 0;
  const others: string[] = [];
  for (const stream of streams ?? (await streamsIn(events))) {
    const mind = parseNpcStream(stream);
    if (mind === null) continue;
    const { tenant, npcId } = mind;
    const replay = createMindReplay(npcId);
    for await (const page of pagesOf(events, stream, { direction: 'forwards' })) {
      for (const recorded of page.events) {
        const ref = replay.rulesOf(recorded);
        const rules = ref === undefined ? null : await rulesets.version(tenant, ref);
        for (const decided of await inSlices(replay.take(recorded, { trial: false, rules }))) {
          const { type, revision, difference, skipped, was, would } = decided;
          if (difference === null && skipped === undefined) same += 1;
          else
            others.push(
              `${stream} revision ${String(revision)} (${type}): ${difference ?? skipped ?? ''}\n${JSON.stringify(was)}\n${JSON.stringify(would)}`,
            );
        }
      }
    }
  }
  return { same, others };
};

const streamsIn = async (events: Pick<EventStore, 'readAll'>): Promise<ReadonlySet<string>> => {
  const streams = new Set<string>();
  for await (const { stream } of allEvents(events)) streams.add(stream);
  return streams;
};

/** Checks that every decision is the same when it is replayed. @throws Error that names each difference */
export const assertSameDecisions = async (events: EventStore, streams: ReadonlySet<string>): Promise<void> => {
  const { others } = await replayAll(events, streams);
  if (others.length > 0) throw new Error(others.join('\n'));
};
