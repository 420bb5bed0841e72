import { Rejection } from '../../domain/shared/rejection.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { parseCommandId } from './command-id.js';
import { pagesOf } from './stream-pages.js';

/** How many events are looked through for one command at most: a key is kept for a day, and much may happen to a mind in a day. */
export const COMMAND_SEARCH_EVENTS = 200_000;

/** Looks for what another attempt at a command has recorded in its stream. */
export type CommandSearch = {
  /** Whether nothing of the command can stand up to this revision, but for what `look` has found. */
  covers(revision: number): boolean;
  /** As `covers`, of all that a lane knows: before the first look also what this process wrote, later only what it read of others. */
  coversLane(lane: { readonly confirmedRevision: number; readonly readRevision: number }): boolean;
  /**
   * Reads the stream from its end back to where it ended when the command was reserved.
   * @returns the command's events, in order; null when there are none
   * @throws Rejection CONFLICT when more than COMMAND_SEARCH_EVENTS came since
   */
  look(): Promise<readonly RecordedEvent[] | null>;
};

/** @param resumed whether this process itself may have carried it out: then the first look cannot be saved */
export const commandSearch = (
  events: EventStore,
  stream: string,
  commandId: string,
  resumed: boolean,
): CommandSearch => {
  let covered = parseCommandId(commandId).lastRevision;
  let looked = false;
  const covers = (revision: number): boolean => (looked || !resumed) && revision <= covered;
  return {
    covers,
    coversLane: ({ confirmedRevision, readRevision }) => covers(looked ? readRevision : confirmedRevision),
    look: async () => {
      const found: RecordedEvent[] = [];
      const to = covered + 1;
      let through = covered;
      let seen = 0;
      for await (const page of pagesOf(events, stream, { direction: 'backwards', to })) {
        through = Math.max(through, page.events[0]?.revision ?? -1);
        found.push(...page.events.filter(({ meta }) => meta.commandId === commandId));
        seen += page.events.length;
        if (seen >= COMMAND_SEARCH_EVENTS) throw tooFarBack();
      }
      covered = through;
      looked = true;
      return found.length === 0 ? null : found.reverse();
    },
  };
};

const tooFarBack = (): Rejection =>
  new Rejection('CONFLICT', {
    message:
      'So much has happened since the first attempt that its outcome cannot be found; read the history, then send a new key.',
  });
