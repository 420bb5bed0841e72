import type { TapeResult, Tape } from './domain/tape.js';
import type { OpenedTurn } from '../../../workflows/turn/turn-state.js';
import { isTurnOver } from '../../../workflows/turn/turn-evolve.js';
import { idKey, memoriesKey, outputKey, type ResultKind, type TurnKey } from './turn-key.js';

/** A result in the form that the turn's transitions accept. */
export type ResultInput =
  | { readonly type: 'actor'; readonly actor: NonNullable<Tape['actor']> }
  | { readonly type: 'memories'; readonly memories: Tape['memories'] }
  | { readonly type: 'output'; readonly generatedOutput: string };

/** The result that each state waits for. */
const awaited: Readonly<Record<OpenedTurn['name'], ResultKind | null>> = {
  awaitingActor: 'actor',
  awaitingMemories: 'memories',
  awaitingInference: 'output',
  ended: null,
  failed: null,
  expired: null,
};

export const inputOf = (result: TapeResult): ResultInput => {
  switch (result.type) {
    case 'IdentifyActorResult':
      return { type: 'actor', actor: result.actor };
    case 'QueryVectorResult':
      return { type: 'memories', memories: result.memories };
    case 'ExecuteInferenceResult':
      return { type: 'output', generatedOutput: result.generatedOutput };
  }
};

/** The results that a fat client wrote into its tape. Memories count only with `vectorQueried`, output only if it is not empty. */
export const tapeResults = (tape: Tape): readonly ResultInput[] => [
  ...(tape.actor === undefined ? [] : [{ type: 'actor', actor: tape.actor } as const]),
  ...(tape.vectorQueried ? [{ type: 'memories', memories: tape.memories } as const] : []),
  ...(tape.generatedOutput === undefined || tape.generatedOutput === ''
    ? []
    : [{ type: 'output', generatedOutput: tape.generatedOutput } as const]),
];

export const awaits = (turn: OpenedTurn, kind: ResultKind): boolean => awaited[turn.name] === kind;

export const isOver = (turn: OpenedTurn, nowMs: number): boolean =>
  isTurnOver(turn) || Date.parse(turn.deadlineAt) <= nowMs;

/** Whether the turn recorded the same result in an earlier round. */
export const recordedSame = (turn: TurnKey, result: ResultInput): boolean => {
  switch (result.type) {
    case 'actor':
      return turn.actor === idKey(result.actor.npcId);
    case 'memories':
      return turn.memories === memoriesKey(result.memories);
    case 'output':
      return turn.output === outputKey(result.generatedOutput);
  }
};

/** Whether a fat tape can be a later step of this turn: the facts that both have agree, and the tape has something beyond the turn's opening. */
const tapeBelongs = (turn: TurnKey, results: readonly ResultInput[]): boolean => {
  const known = results.filter(({ type }) => turn[type] !== undefined);
  const fresh = results.filter(({ type }) => !turn.atFirst.includes(type));
  return (
    fresh.length > 0 &&
    known.every((result) => recordedSame(turn, result)) &&
    (known.length > 0 || results.some(({ type }) => turn.awaits === type))
  );
};

/**
 * Finds the turn that a step without a turn id belongs to, among a mind's recent turns, newest first: `new` for a first step, `unknown` if its turn
 * is not among them.
 * @param said the comparable form of the values that its turn was opened with, according to the tape
 * @param player the key of the player who speaks in the step; a turn that names nobody fits any step
 */
export const findTurn = (
  recent: readonly TurnKey[],
  { said, player }: Pick<TurnKey, 'said' | 'player'>,
  tape: Tape,
  result: ResultInput | 'unknown' | null,
  nowMs: number,
): TurnKey | 'new' | 'unknown' => {
  const actor = tape.actor === undefined ? undefined : idKey(tape.actor.npcId);
  const alike = recent.filter(
    (turn) =>
      !turn.agent &&
      turn.said === said &&
      (turn.player === undefined || turn.player === player) &&
      turn.deadlineMs > nowMs &&
      (actor === undefined || turn.actor === undefined || turn.actor === actor),
  );
  const newestOpen = (fits: (turn: TurnKey) => boolean) => alike.find((turn) => turn.awaits !== null && fits(turn));
  const newestEnded = (fits: (turn: TurnKey) => boolean) =>
    alike.find((turn) => turn.awaits === null && !turn.expired && fits(turn));

  if (result === 'unknown') return newestOpen(() => true) ?? 'unknown';
  if (result !== null) {
    return (
      newestOpen((turn) => turn.awaits === result.type || recordedSame(turn, result)) ??
      newestEnded((turn) => recordedSame(turn, result)) ??
      newestOpen(() => true) ??
      'unknown'
    );
  }
  const results = tapeResults(tape);
  const belongs = (turn: TurnKey): boolean => tapeBelongs(turn, results);
  // A fat client repeats its last step: only its output shows that the turn has already ended.
  const output = results.find(({ type }) => type === 'output');
  const repeats = (turn: TurnKey): boolean => output !== undefined && recordedSame(turn, output) && belongs(turn);
  return newestOpen(belongs) ?? newestEnded(repeats) ?? 'new';
};
