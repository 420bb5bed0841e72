import { mapLimited } from '../../kernel/concurrency/map-limited.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { reportFacts } from './domain/decide.js';
import type { MindState } from './domain/state.js';
import { mindFold } from './mind-fold.js';

/** How many minds a report about many changes at a time. */
const MINDS_AT_A_TIME = 32;

/** The state of a mind that includes a report. `position`: of its event, 0 if it has recorded none. */
type Reported = { readonly facts: JsonObject; readonly revision: number; readonly position: number };

/** Reports facts about one mind. @throws Rejection FACTS_TOO_LARGE; and as runCommand */
export const reportOn = async (
  deps: CommandDeps,
  command: Command,
  npcId: string,
  facts: JsonObject,
): Promise<Reported> => {
  const decide = (mind: MindState) => reportFacts(mind, facts);
  const stream = npcStream(command.tenant, npcId);
  const { state, revision, position } = await runCommand(deps, stream, mindFold, command, decide);
  return { facts: state.facts ?? {}, revision, position };
};

/** The outcome for one of many minds. */
export type ReportOutcome =
  { readonly npcId: string; readonly revision: number } | { readonly npcId: string; readonly refused: Rejection };

export type ManyReported = {
  /** In the order of the minds. */
  readonly outcomes: readonly ReportOutcome[];
  /** The last position that was written, 0 if none was. */
  readonly position: number;
};

/** Whether a refusal is about one mind. Any other concerns the whole report: a store that does not answer, a server that is busy. */
const isOfMind = ({ code }: Rejection): boolean => ['FACTS_TOO_LARGE', 'SOUL_ARRIVING', 'CONFLICT'].includes(code);

/**
 * Reports the same facts about many minds, each in an append of its own. It is one command in every stream, so a repeat completes what an earlier
 * attempt left undone, and does nothing twice. A mind that refuses the report does not keep it from others.
 * @throws the first failure that is not about one mind, once the appends that had begun have ended; no others are begun
 */
export const reportOnMany = async (
  deps: CommandDeps,
  command: Command,
  npcIds: readonly string[],
  facts: JsonObject,
): Promise<ManyReported> => {
  let position = 0;
  const outcomes = await mapLimited(npcIds, MINDS_AT_A_TIME, async (npcId): Promise<ReportOutcome> => {
    try {
      const reported = await reportOn(deps, command, npcId, facts);
      position = Math.max(position, reported.position);
      return { npcId, revision: reported.revision };
    } catch (error) {
      if (!(error instanceof Rejection) || !isOfMind(error)) throw error;
      return { npcId, refused: error };
    }
  });
  return { outcomes, position };
};

/** Whether some mind refused the report only for now. */
export const isUnfinished = ({ outcomes }: ManyReported): boolean =>
  outcomes.some((outcome) => 'refused' in outcome && outcome.refused.retryAfter !== undefined);
