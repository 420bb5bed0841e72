import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { chainBroken, type EventChecks } from '../../kernel/streams/event-checks.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

export type GoodTurnDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly writers: Pick<StreamWriters, 'hasWritten'>;
  readonly checks: Pick<EventChecks, 'requireGood'>;
};

/** A turn of a mind, up to the event at a revision. */
export type TurnUpTo = {
  readonly stream: string;
  readonly turnId: string;
  readonly revision: number;
};

/**
 * Requires that the events of a turn up to a revision are what was recorded. Those that this process wrote itself are not read again.
 * @throws Rejection CHAIN_BROKEN; what the event store throws
 */
export const requireGoodTurn = async (
  { events, writers, checks }: GoodTurnDeps,
  { stream, turnId, revision }: TurnUpTo,
): Promise<void> => {
  const from = Math.min(parseProcessId(turnId)?.revision ?? revision, revision);
  // The id has the revision before the turn, or 0 if the stream was empty.
  if (writers.hasWritten(stream, from === 0 ? 0 : from + 1)) return;
  let last: RecordedEvent | undefined;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from, to: revision })) {
    const own = page.events.filter(({ data }) => data['turnId'] === turnId);
    await checks.requireGood(own);
    last = own.at(-1) ?? last;
  }
  if (last?.revision !== revision) throw chainBroken(stream, revision);
};
