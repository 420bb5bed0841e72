import { Rejection } from '../base/rejection.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { parseCommandId } from './command-id.js';
import { pagesOf } from './stream-pages.js';

/** The maximum number of events that one search for a command reads. A key is kept for a day, and a mind can record a lot in a day. */
export const COMMAND_SEARCH_EVENTS = 200_000;

/** Finds what another attempt at a command has recorded in its stream. */
export type CommandSearch = {
  /** Whether the command has no event up to this revision except those that `look` found. */
  covers(revision: number): boolean;
  /**
   * Like `covers`, for everything that a writer has seen. Before the first look this includes what this process wrote; after it, only what was read.
   */
  coversWriter(writer: { readonly confirmedRevision: number; readonly readRevision: number }): boolean;
  /**
   * Reads the stream backwards, from its end to where it ended when the command was reserved. If that ended the log of a command on many streams, it
   * reads one event of a stream to which nothing was added since.
   * @returns the command's events, in order; null if there are none
   * @throws Rejection CONFLICT if more than COMMAND_SEARCH_EVENTS have been added since
   */
  look(): Promise<readonly RecordedEvent[] | null>;
};

/** @param resumed whether this process itself may have carried out the command; if so, it always looks once */
export const commandSearch = (
  events: EventStore,
  stream: string,
  commandId: string,
  resumed: boolean,
): CommandSearch => {
  const reserved = parseCommandId(commandId);
  let covered = reserved.lastRevision;
  let looked = false;
  const covers = (revision: number): boolean => (looked || !resumed) && revision <= covered;
  return {
    covers,
    coversWriter: ({ confirmedRevision, readRevision }) => covers(looked ? readRevision : confirmedRevision),
    look: async () => {
      const found: RecordedEvent[] = [];
      const isOlder = ({ position }: RecordedEvent): boolean => position <= reserved.position;
      if (reserved.position > 0) {
        const [last] = (await events.read(stream, { direction: 'backwards', limit: 1 })).events;
        if (last === undefined || isOlder(last)) {
          covered = Math.max(covered, last?.revision ?? -1);
          looked = true;
          return null;
        }
      }
      const to = covered + 1;
      let through = covered;
      let seen = 0;
      for await (const page of pagesOf(events, stream, { direction: 'backwards', to })) {
        through = Math.max(through, page.events[0]?.revision ?? -1);
        found.push(...page.events.filter(({ meta }) => meta.commandId === commandId));
        seen += page.events.length;
        if (page.events.some(isOlder)) break;
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
      'The outcome of the first attempt cannot be found, because too much has been recorded since. Read the history, then send the request with a new idempotency key.',
  });
