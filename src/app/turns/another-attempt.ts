import type { CommandContext } from '../../domain/shared/command-context.js';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProcess } from '../../../workflows/process.js';
import type { OpenedTurn, TurnState } from '../../../workflows/turn-state.js';
import { mindFold } from '../minds/mind.js';
import type { ProcessJournal } from '../processes/process-journal.js';
import { earlierProcess } from '../streams/earlier-process.js';
import type { Lanes } from '../streams/lanes.js';

/** A request for a turn as the search for its earlier attempts sees it; `keyed` and `resumed` as a command's (run-command.ts). */
export type TurnAttempt = {
  readonly stream: string;
  readonly by: CommandContext;
  readonly keyed: boolean;
  readonly resumed: boolean;
};

/** The turn that another attempt at the same command has opened or stepped; `since` as earlierProcess tells it. */
export const anotherAttempt = async (
  { journal, ...deps }: { readonly lanes: Lanes; readonly events: EventStore; readonly journal: ProcessJournal },
  process: AnyProcess,
  attempt: TurnAttempt,
): Promise<{ readonly earlier: OpenedTurn | null; readonly since: number | undefined }> => {
  const { id, since } = await earlierProcess(deps, 'turnId', attempt, mindFold);
  if (id === null) return { earlier: null, since };
  const state = (await journal.load(process, { process: process.name, id, stream: attempt.stream })).state as TurnState;
  return { earlier: state.name === 'new' ? null : state, since };
};
