import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { chainBroken, type EventChecks } from '../../kernel/streams/event-checks.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import { turn } from '../../../workflows/turn/turn.js';

export type GoodTurnDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly repository: Pick<ProcessRepository, 'isHeld'>;
  readonly checks: Pick<EventChecks, 'requireGood'>;
};

/** A turn of a mind, up to the event at a revision. */
export type TurnUpTo = {
  readonly stream: string;
  readonly turnId: string;
  readonly revision: number;
};

/**
 * Requires that the events of a turn up to a revision are what was recorded. A turn that is in memory as this process recorded it does not come from
 * the store, so nothing is read for it.
 * @throws Rejection CHAIN_BROKEN; what the event store throws
 */
export const requireGoodTurn = async (
  { events, repository, checks }: GoodTurnDeps,
  { stream, turnId, revision }: TurnUpTo,
): Promise<void> => {
  if (repository.isHeld({ process: turn.name, id: turnId, stream }, revision)) return;
  const from = Math.min(parseProcessId(turnId)?.revision ?? revision, revision);
  let last: RecordedEvent | undefined;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from, to: revision })) {
    const own = page.events.filter(({ data }) => data['turnId'] === turnId);
    await checks.requireGood(own);
    last = own.at(-1) ?? last;
  }
  if (last?.revision !== revision) throw chainBroken(stream, revision);
};
