import { createHash } from 'node:crypto';

import { mindFold } from './mind.js';
import { awaits, findTurn, inputOf, isOver, type ResultInput, tapeResults } from './find-turn.js';
import type { Lanes } from './lanes.js';
import type { ProcessJournal } from './process-journal.js';
import type { TurnIndex } from './turn-index.js';
import { mismatches } from '../domain/npc/tape-mismatch.js';
import type { StepResult, Tape } from '../domain/npc/tape.js';
import { makeTurnId } from '../domain/npc/turn-id.js';
import { Rejection } from '../domain/shared/rejection.js';
import type { Clock } from '../ports/clock.js';
import type { AskedBy, ProcessEngine, ProcessRef } from '../ports/process-engine.js';
import type { TurnAnswer } from '../../workflows/turn-answer.js';
import type { OpenedTurn, TurnInput, TurnState } from '../../workflows/turn-state.js';
import { turn } from '../../workflows/turn.js';

export type StepDeps = {
  readonly engine: ProcessEngine;
  readonly journal: ProcessJournal;
  readonly index: TurnIndex;
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly turnDeadlineMs: number;
};

export type Step = {
  readonly stream: string;
  readonly tape: Tape;
  /** null: none was sent; 'unknown': one of a type that is not in the protocol. */
  readonly result: StepResult | 'unknown' | null;
  readonly by: AskedBy;
  /** An earlier attempt under the same Idempotency-Key died half way. */
  readonly resumed: boolean;
};

/** The answer, the revision of the mind's stream and the global position (0: nothing was recorded) when it was made. */
export type Stepped = { readonly answer: TurnAnswer; readonly revision: number; readonly position: number };

/**
 * One step of the multi-round protocol (contract 2.2, 2.6): finds the turn it means, opens or resumes one where there is none, and hands the
 * table what is new in it. Never refuses for what the client remembers otherwise: it is answered from the record.
 * @throws Rejection as ProcessEngine.ask
 */
export const stepTurn = async (deps: StepDeps, step: Step): Promise<Stepped> => {
  const result = step.result === null || step.result === 'unknown' ? step.result : inputOf(step.result);
  // Taken before an earlier attempt's turn is looked for: what that one records from now on, the new turn's first reading meets.
  const since = step.resumed ? (await deps.lanes.current(step.stream, mindFold)).confirmedRevision : undefined;
  const meant = await locate(deps, step, result);
  if (meant !== null && 'turnId' in meant) return takeStep(deps, step, result, meant);
  if (meant === null) return open(deps, step, since === undefined ? {} : { since });
  const { lost } = meant;
  if (lost === undefined) return resume(deps, step, result, {});
  return deps.journal.inTurn(`resume ${step.stream} ${lost}`, () => goOn(deps, step, result, lost));
};

type Lost = { readonly lost: string | undefined };

/** The turn a step means; null when it opens one; `lost` when it means one that is unknown or expired. */
const locate = async (
  deps: StepDeps,
  step: Step,
  result: ResultInput | 'unknown' | null,
): Promise<OpenedTurn | Lost | null> => {
  const { stream, tape } = step;
  if (tape.turnId !== undefined) {
    const known = await load(deps, stream, tape.turnId);
    return isLost(deps, known) ? { lost: tape.turnId } : known;
  }
  const recent = await deps.index.recent(stream);
  const earlier = step.resumed ? recent.find(({ commandId }) => commandId === step.by.commandId) : undefined;
  if (earlier !== undefined) return earlier;
  if (result === null && tapeResults(tape).length === 0) return null;
  const nowMs = deps.clock.now().getTime();
  const found = findTurn(recent, tape, result, nowMs);
  if (found !== undefined) return found;
  return findTurn(await deps.index.refresh(stream), tape, result, nowMs) ?? { lost: undefined };
};

const refOf = (stream: string, id: string): ProcessRef => ({ process: turn.name, id, stream });

const load = async (deps: StepDeps, stream: string, turnId: string): Promise<TurnState> =>
  (await deps.journal.load(turn, refOf(stream, turnId))).state as TurnState;

const isLost = (deps: StepDeps, state: TurnState): state is Exclude<TurnState, OpenedTurn> =>
  state.name === 'new' || (state.name !== 'ended' && isOver(state, deps.clock.now().getTime()));

/**
 * Goes on for a lost turn, once however often its steps are repeated: in this process by the line that the caller stands in, over all by a
 * command id that whoever goes on for it has.
 */
const goOn = async (
  deps: StepDeps,
  step: Step,
  result: ResultInput | 'unknown' | null,
  lost: string,
): Promise<Stepped> => {
  // Taken before the look: what another server records from now on, the new turn's first reading meets.
  const since = (await deps.lanes.current(step.stream, mindFold)).confirmedRevision;
  const successor = await follow(deps, step.stream, lost);
  if (successor !== null) return takeStep(deps, step, result, successor);
  const commandId = `resume_${digest(`${step.stream} ${lost}`)}`;
  try {
    return await resume(deps, { ...step, by: { ...step.by, commandId } }, result, { lost, since });
  } catch (failure) {
    const other =
      failure instanceof Rejection && failure.code === 'BUSY' ? await follow(deps, step.stream, lost) : null;
    if (other === null) throw failure;
    return takeStep(deps, step, result, other);
  }
};

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** The turn that goes on for a lost one, however often that was lost again; null when there is none that still can. */
const follow = async (deps: StepDeps, stream: string, lost: string): Promise<OpenedTurn | null> => {
  const seen = new Set<string>();
  for (let id = lost; !seen.has(id);) {
    seen.add(id);
    const next = await successorOf(deps, stream, id);
    if (next === undefined) return null;
    const state = await load(deps, stream, next);
    if (!isLost(deps, state)) return state;
    id = next;
  }
  return null;
};

const successorOf = async (deps: StepDeps, stream: string, turnId: string): Promise<string | undefined> => {
  const known = await deps.index.successor(stream, turnId);
  if (known !== undefined) return known;
  await deps.index.refresh(stream);
  return deps.index.successor(stream, turnId);
};

type Opened = {
  readonly memories?: Tape['memories'];
  readonly output?: string;
  readonly resumedFrom?: string;
  /** The revision that the turn's id carries; the last durable one when left out. */
  readonly since?: number;
};

const open = async (deps: StepDeps, step: Step, { memories, output, resumedFrom, since }: Opened): Promise<Stepped> => {
  const { tape, stream, by } = step;
  const nowMs = deps.clock.now().getTime();
  const lane = await deps.lanes.current(stream, mindFold);
  const turnId = makeTurnId('process', since ?? lane.confirmedRevision, nowMs, by.commandId);
  const opening: TurnInput = {
    type: 'open',
    turnId,
    observation: tape.observation,
    context: tape.context,
    npcState: tape.npcState,
    ...(tape.persona === undefined ? {} : { persona: tape.persona }),
    ...(tape.actor === undefined ? {} : { actor: tape.actor }),
    ...(memories === undefined ? {} : { memories }),
    ...(tape.rulesetId === undefined ? {} : { rulesetId: tape.rulesetId }),
    ...(resumedFrom === undefined ? {} : { resumedFrom }),
    deadlineAt: new Date(nowMs + deps.turnDeadlineMs).toISOString(),
  };
  const taken: TurnInput[] = output === undefined ? [] : [{ type: 'output', generatedOutput: output }];
  return ask(deps, step, turnId, [opening, ...taken]);
};

/** Answers from the tape alone: what it holds, and what the step brings, is what the new turn begins with. */
const resume = (
  deps: StepDeps,
  step: Step,
  result: ResultInput | 'unknown' | null,
  { lost, since }: { readonly lost?: string; readonly since?: number },
): Promise<Stepped> => {
  const tape = merged(step.tape, result);
  const memories = tape.actor !== undefined && tape.vectorQueried ? tape.memories : undefined;
  const brought = result !== null && result !== 'unknown' && result.type === 'output';
  const output = memories !== undefined && (brought || tape.generatedOutput !== '') ? tape.generatedOutput : undefined;
  return open(
    deps,
    { ...step, tape },
    {
      ...(memories === undefined ? {} : { memories }),
      ...(output === undefined ? {} : { output }),
      ...(lost === undefined ? {} : { resumedFrom: lost }),
      ...(since === undefined ? {} : { since }),
    },
  );
};

/** `lastResult` wins over the tape (contract 2.5). */
const merged = (tape: Tape, result: ResultInput | 'unknown' | null): Tape => {
  if (result === null || result === 'unknown') return tape;
  switch (result.type) {
    case 'actor':
      return { ...tape, actor: result.actor };
    case 'memories':
      return { ...tape, memories: result.memories, vectorQueried: true };
    case 'output':
      return { ...tape, generatedOutput: result.generatedOutput };
  }
};

const takeStep = (
  deps: StepDeps,
  step: Step,
  result: ResultInput | 'unknown' | null,
  found: OpenedTurn,
): Promise<Stepped> => {
  const tape = merged(step.tape, result);
  const members = mismatches(found, tape);
  const last = nextInput(found, tape, result);
  const round = (last.type === 'look' ? last.round : undefined) ?? found.rounds.length - 1;
  const noticed: TurnInput[] = members.length === 0 ? [] : [{ type: 'mismatch', round, members }];
  return ask(deps, step, found.turnId, [...noticed, last]);
};

/** What is new in a step; a look at an earlier round's answer when nothing is (contract 2.6: repeats, misfits, contradictions). */
const nextInput = (found: OpenedTurn, tape: Tape, result: ResultInput | 'unknown' | null): TurnInput => {
  if (result === 'unknown') return { type: 'look' };
  if (result !== null) {
    const round = found.roundOf[result.type];
    if (round !== undefined) return { type: 'look', round };
    return awaits(found, result.type) ? result : { type: 'look' };
  }
  const results = tapeResults(tape);
  const next = results.find(({ type }) => awaits(found, type));
  if (next !== undefined) return next;
  return { type: 'look', round: Math.max(0, ...results.map(({ type }) => found.roundOf[type] ?? 0)) };
};

const ask = async (deps: StepDeps, step: Step, turnId: string, inputs: readonly TurnInput[]): Promise<Stepped> => {
  const ref = refOf(step.stream, turnId);
  const { answer, revision, position } = await deps.engine.ask(ref, inputs, step.by);
  await deps.index.noted(step.stream, () => load(deps, step.stream, turnId));
  return { answer: answer as TurnAnswer, revision, position };
};
