import type { EventStore } from '../../ports/event-store.js';
import type { Fold } from './fold.js';
import { commandSearch } from './find-command.js';
import type { StreamWriters } from './stream-writers.js';
import type { Command } from './run-command.js';
import type { CommandContext } from '../base/command-context.js';

/** A request as the search for its earlier attempts needs it; `keyed` and `resumed` are those of its command. */
export type CommandAttempt = Required<Pick<Command, 'keyed' | 'resumed'>> & {
  readonly stream: string;
  readonly by: CommandContext;
};

/**
 * The process that another attempt at the same command has begun or stepped, identified by the member of its events that names it; null if there is
 * none. `searchedTo` is the revision up to which the stream was searched, undefined if no search was necessary. The first read of a process whose id
 * carries `searchedTo` covers everything after that revision.
 */
export const earlierProcess = async (
  { writers, events }: { readonly writers: StreamWriters; readonly events: EventStore },
  member: 'turnId' | 'soulId',
  { stream, by, keyed, resumed }: CommandAttempt,
  fold: Fold<unknown>,
): Promise<{ readonly id: string | null; readonly searchedTo: number | undefined }> => {
  if (!resumed && !(keyed && writers.shared)) return { id: null, searchedTo: undefined };
  const search = commandSearch(events, stream, by.commandId, resumed);
  const { revision: searchedTo } = await writers.current(stream, fold);
  while (!search.covers(searchedTo)) {
    const own = await search.look();
    const id = own?.findLast(({ data }) => typeof data[member] === 'string')?.data[member];
    if (typeof id === 'string') return { id, searchedTo };
  }
  return { id: null, searchedTo };
};
