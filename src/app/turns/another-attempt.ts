import type { CommandContext } from '../../domain/shared/command-context.js';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProcess } from '../../../workflows/process.js';
import type { OpenedTurn, TurnState } from '../../../workflows/turn-state.js';
import { mindFold } from '../minds/mind.js';
import type { ProcessJournal } from '../processes/process-journal.js';
import { commandSearch } from '../streams/find-command.js';
import type { Lanes } from '../streams/lanes.js';

/** A request for a turn as the search for its earlier attempts sees it; `keyed` and `resumed` as a command's (run-command.ts). */
export type TurnAttempt = {
  readonly stream: string;
  readonly by: CommandContext;
  readonly keyed: boolean;
  readonly resumed: boolean;
};

/**
 * The turn that another attempt at the same command has opened or stepped. `since` is the revision up to which the mind was searched for it. The
 * first reading of a turn whose id carries `since` meets what comes after that.
 */
export const anotherAttempt = async (
  { lanes, events, journal }: { readonly lanes: Lanes; readonly events: EventStore; readonly journal: ProcessJournal },
  process: AnyProcess,
  { stream, by, keyed, resumed }: TurnAttempt,
): Promise<{ readonly earlier: OpenedTurn | null; readonly since: number | undefined }> => {
  if (!resumed && !(keyed && lanes.shared)) return { earlier: null, since: undefined };
  const search = commandSearch(events, stream, by.commandId, resumed);
  const { revision: since } = await lanes.current(stream, mindFold);
  while (!search.covers(since)) {
    const own = await search.look();
    const turnId = own?.findLast(({ data }) => typeof data['turnId'] === 'string')?.data['turnId'];
    if (typeof turnId !== 'string') continue;
    const state = (await journal.load(process, { process: process.name, id: turnId, stream })).state as TurnState;
    return { earlier: state.name === 'new' ? null : state, since };
  }
  return { earlier: null, since };
};
