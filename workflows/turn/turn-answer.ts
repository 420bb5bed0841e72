import type { Instruction, Verdict } from '../../src/features/npcs/domain/events.js';
import type { RulesetUsed } from '../../src/features/rules/domain/ruleset.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import type { OpenedTurn, TurnInput, TurnState } from './turn-state.js';
import { defined } from '../../src/kernel/base/defined.js';

/** The answer to a step: the instruction of one round and the tape as recorded up to it. The same round always makes the same answer. */
export type TurnAnswer = {
  readonly turnId: string;
  readonly round: number;
  readonly observation: string;
  readonly instruction: Instruction | { readonly type: 'Finalize'; readonly verdict: Verdict };
  /** The members of the tape that the protocol defines; those not set yet are absent. */
  readonly tape: JsonObject;
  /** The inputs of the signature, if the verdict is valid. */
  readonly signing?: {
    readonly revision: number;
    readonly at: string;
    readonly kid: string;
    readonly iss: string;
    readonly ruleset: RulesetUsed | null;
  };
  readonly rulesetMissing?: string;
  /** The ruleset that the request named, if another one decided. */
  readonly rulesetIgnored?: string;
};

const has = (recorded: number | undefined, round: number): boolean => recorded !== undefined && recorded <= round;

/** A player of whom the context does not tell: sent back in the tape, it says who speaks if the turn must be resumed. */
const playerOf = ({ player }: OpenedTurn): JsonObject =>
  player === undefined || player.from === 'context'
    ? {}
    : { player: { id: player.id, ...defined({ name: player.name }) } };

const tapeAt = (turn: OpenedTurn, round: number): JsonObject => {
  const asked = turn.rounds
    .slice(0, round + 1)
    .findLast(({ instruction }) => instruction.type === 'ExecuteInference')?.instruction;
  const recalled = has(turn.roundOf.memories, round);
  return {
    turnId: turn.turnId,
    observation: turn.observation,
    context: turn.context,
    npcState: turn.npcState,
    ...defined({ persona: turn.persona }),
    ...playerOf(turn),
    ...(turn.actor !== undefined && has(turn.roundOf.actor, round) ? { actor: turn.actor } : {}),
    memories: recalled ? (turn.memories ?? []) : [],
    vectorQueried: recalled,
    ...(asked?.type === 'ExecuteInference' ? { prompt: asked.prompt, constraints: asked.constraints } : {}),
    ...(turn.generatedOutput !== undefined && has(turn.roundOf.output, round)
      ? { generatedOutput: turn.generatedOutput }
      : {}),
  };
};

const roundAskedFor = (turn: OpenedTurn, input: TurnInput | undefined): number => {
  const latest = turn.rounds.length - 1;
  switch (input?.type) {
    case 'open':
      return 0;
    case 'actor':
    case 'memories':
    case 'output':
      return turn.roundOf[input.type] ?? latest;
    case 'look':
      return Math.min(input.round ?? latest, latest);
    case 'mismatch':
      return Math.min(input.round, latest);
    case 'deadline':
    case undefined:
      return latest;
  }
};

/** The answer to an input, from the record alone; undefined for a turn that was never opened. */
export const answerRound = (state: TurnState, input: TurnInput | undefined): TurnAnswer | undefined => {
  if (state.name === 'new') return undefined;
  const round = roundAskedFor(state, input);
  const recorded = state.rounds[round];
  if (recorded === undefined) return undefined;
  const missing = defined({ rulesetMissing: state.rulesetMissing, rulesetIgnored: state.ruleset?.asked });
  const { turnId, observation } = state;
  const common = { turnId, round, observation, tape: tapeAt(state, round), ...missing };
  if (recorded.instruction.type !== 'Finalize') return { ...common, instruction: recorded.instruction };
  if (state.verdict === undefined) return undefined;
  const { verdict, kid, iss } = { kid: undefined, iss: undefined, ...state.verdict };
  return {
    ...common,
    instruction: { type: 'Finalize', verdict },
    ...(kid === undefined || iss === undefined
      ? {}
      : { signing: { revision: recorded.revision, at: recorded.at, kid, iss, ruleset: state.ruleset } }),
  };
};
