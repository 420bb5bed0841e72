import { parseNpcStream } from '../../domain/shared/stream-names.js';
import type { RulesetRef } from '../../domain/npc/events.js';
import type { EventStore } from '../../ports/event-store.js';
import { inSlices } from '../../concurrency/in-slices.js';
import { pagesOf } from '../streams/stream-pages.js';
import { createMindReplay, type DecidedAgain, type RulesAgain } from './replay-mind.js';

/** By which rules a decision is taken again, given those of then. */
export type RulesFor = (ref: RulesetRef | null) => Promise<RulesAgain>;

/** For events that decided nothing. */
const undecided: RulesAgain = { trial: false, rules: null };

/** Which part of a mind's stream is decided again; both ends included. */
export type ReplayRange = { readonly from?: number; readonly to?: number };

/**
 * Decides again what was decided in a mind's stream, page by page. What comes before the range is folded only.
 * Raises what the event store and `rulesFor` raise.
 */
export async function* replayedDecisions(
  events: Pick<EventStore, 'read'>,
  stream: string,
  rulesFor: RulesFor,
  { from = 0, to }: ReplayRange = {},
): AsyncGenerator<DecidedAgain, void, undefined> {
  const { npcId } = parseNpcStream(stream) ?? { npcId: '' };
  const replay = createMindReplay(npcId);
  const range = to === undefined ? {} : { to };
  for await (const page of pagesOf(events, stream, { direction: 'forwards', ...range })) {
    for (const recorded of page.events) {
      if (recorded.revision < from) {
        replay.pass(recorded);
        continue;
      }
      const ref = replay.rulesOf(recorded);
      yield* await inSlices(replay.take(recorded, ref === undefined ? undecided : await rulesFor(ref)));
    }
  }
}
