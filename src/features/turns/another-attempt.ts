import type { EventStore } from '../../ports/event-store.js';
import type { AnyStateMachine } from '../../kernel/processes/state-machine.js';
import type { OpenedTurn, TurnState } from '../../../workflows/turn/turn-state.js';
import { mindFold } from '../npcs/mind-fold.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { type CommandAttempt, earlierProcess } from '../../kernel/streams/earlier-process.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** The turn that another attempt at the same command has opened or stepped; `searchedTo` is the one from earlierProcess. */
export const anotherAttempt = async (
  {
    repository,
    ...deps
  }: { readonly writers: StreamWriters; readonly events: EventStore; readonly repository: ProcessRepository },
  process: AnyStateMachine,
  attempt: CommandAttempt,
): Promise<{ readonly earlier: OpenedTurn | null; readonly searchedTo: number | undefined }> => {
  const { id, searchedTo } = await earlierProcess(deps, 'turnId', attempt, mindFold);
  if (id === null) return { earlier: null, searchedTo };
  const state = (await repository.load(process, { process: process.name, id, stream: attempt.stream }))
    .state as TurnState;
  return { earlier: state.name === 'new' ? null : state, searchedTo };
};
