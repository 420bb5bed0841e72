import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import {
  findTurn,
  inputOf,
  isOver,
  recordedSame,
  type ResultInput,
  tapeResults,
} from '../../../src/features/turns/find-turn.js';
import { keyChange, saidSlices, type TurnKey } from '../../../src/features/turns/turn-key.js';
import { defined } from '../../../src/kernel/base/defined.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import type { Tape, TapeResult } from '../../../src/features/turns/domain/tape.js';
import type { OpenedTurn } from '../../../workflows/turn/turn-state.js';
import { turn } from '../../../workflows/turn/turn.js';
import { givenOf } from '../../support/given.js';
import { actorIdentified, draftOf, memoriesRecalled, turnOpened, verdict } from '../../support/histories.js';
import { tapeOf as anyTape } from '../../support/minds.js';

const NOW = Date.parse('2026-01-01T00:05:00.000Z');
const AFTER_DEADLINE = Date.parse('2026-01-01T00:15:00.000Z');
const OBSERVATION = 'A stranger comes in.';
const mira = { npcId: 'mira', persona: null, data: {} };
const otto = { npcId: 'otto', persona: null, data: {} };

const stateOf = (...events: readonly EventDraft[]): OpenedTurn => {
  const { state } = givenOf(turn)(...events);
  if (state.name === 'new') throw new Error('the turn was never opened');
  return state;
};
const keys = givenOf<TurnKey | undefined>({
  initial: undefined,
  evolve: (known, event) => {
    const change = keyChange(event);
    return change !== null && 'next' in change ? (change.next(known) ?? known) : known;
  },
});
const keyOf = (...events: readonly EventDraft[]): TurnKey => {
  const { state } = keys(...events);
  if (state === undefined) throw new Error('the turn was never opened');
  return state;
};
const awaitingActor = (turnId: string, of?: Parameters<typeof turnOpened>[1]): TurnKey => keyOf(turnOpened(turnId, of));
const awaitingMemories = (turnId: string): TurnKey => keyOf(turnOpened(turnId), actorIdentified(turnId));
const awaitingInference = (turnId: string): TurnKey =>
  keyOf(turnOpened(turnId), actorIdentified(turnId), memoriesRecalled(turnId));
const endedEvents = (turnId: string): readonly EventDraft[] => [
  turnOpened(turnId),
  actorIdentified(turnId),
  memoriesRecalled(turnId),
  verdict(turnId, true),
];
const ended = (turnId: string): TurnKey => keyOf(...endedEvents(turnId));
const expiredEvents = (turnId: string): readonly EventDraft[] => [
  turnOpened(turnId),
  draftOf({ type: 'TurnExpired', data: { turnId } }),
];
const expired = (turnId: string): TurnKey => keyOf(...expiredEvents(turnId));

const tapeOf = (members: Partial<Tape> = {}): Tape => anyTape({ observation: OBSERVATION, ...members });
const actor: ResultInput = { type: 'actor', actor: mira };
const memories: ResultInput = { type: 'memories', memories: [] };
const otherMemories: ResultInput = {
  type: 'memories',
  memories: [{ text: 'Something else.', type: 'experience', importance: 1, similarity: 1 }],
};
const output: ResultInput = { type: 'output', generatedOutput: 'Three coins.' };
const otherOutput: ResultInput = { type: 'output', generatedOutput: 'Four coins.' };

type Case = readonly [
  title: string,
  recent: readonly TurnKey[],
  tape: Tape,
  result: ResultInput | 'unknown' | null,
  expected: string,
];

/** The id of the turn that is found. `new`: a first step. `unknown`: a turn that is not in the list. */
const cases: readonly Case[] = [
  ['a tape alone is a first step, though the same words were just said', [awaitingActor('t1')], tapeOf(), null, 'new'],
  ['a result belongs to the turn that waits for it', [awaitingActor('t1')], tapeOf(), actor, 't1'],
  ['the newest of two turns is found', [awaitingActor('t2'), awaitingActor('t1')], tapeOf(), actor, 't2'],
  [
    'a turn that waits for the result is preferred to a newer one that does not',
    [awaitingActor('t2'), awaitingMemories('t1')],
    tapeOf(),
    memories,
    't1',
  ],
  [
    'a result that a newer turn already recorded is its repeat',
    [awaitingMemories('t2'), awaitingActor('t1')],
    tapeOf(),
    actor,
    't2',
  ],
  ['another observation is another turn', [awaitingActor('t1')], tapeOf({ observation: 'Rain.' }), actor, 'unknown'],
  ['another context is another turn', [awaitingActor('t1')], tapeOf({ context: { at: 'inn' } }), actor, 'unknown'],
  [
    'a context in another order is the same',
    [awaitingActor('t1', { context: { a: 0.1, b: 1 } })],
    tapeOf({ context: { b: 1, a: Math.fround(0.1) } }),
    actor,
    't1',
  ],
  ['another actor in the tape is another turn', [awaitingMemories('t1')], tapeOf({ actor: otto }), memories, 'unknown'],
  ['the same actor in the tape is the same turn', [awaitingMemories('t1')], tapeOf({ actor: mira }), memories, 't1'],
  ['an actor matches a turn without one', [awaitingActor('t1')], tapeOf({ actor: otto }), actor, 't1'],
  ['a repeated last result finds the turn that it ended', [ended('t1')], tapeOf(), output, 't1'],
  ['a repeat of an earlier result finds the ended turn as well', [ended('t1')], tapeOf(), memories, 't1'],
  ['another last result does not belong to the ended turn', [ended('t1')], tapeOf(), otherOutput, 'unknown'],
  ['an open turn is preferred to an ended one', [ended('t2'), awaitingInference('t1')], tapeOf(), output, 't1'],
  [
    'a contradiction belongs to the open turn that recorded something else',
    [awaitingInference('t1')],
    tapeOf(),
    otherMemories,
    't1',
  ],
  ['an early result belongs to the open turn', [awaitingActor('t1')], tapeOf(), output, 't1'],
  [
    'a repeat for an ended turn is not an early result for an open one',
    [awaitingActor('t2'), ended('t1')],
    tapeOf(),
    output,
    't1',
  ],
  ['a result of an unknown type belongs to the newest open turn', [awaitingActor('t1')], tapeOf(), 'unknown', 't1'],
  ['a result of an unknown type does not belong to an ended turn', [ended('t1')], tapeOf(), 'unknown', 'unknown'],
  ['an expired turn is not found', [expired('t1')], tapeOf(), actor, 'unknown'],
  ['no turn, no result: a first step', [], tapeOf(), null, 'new'],
  ['no turn, but a result: its turn is lost', [], tapeOf(), actor, 'unknown'],
  // Fat clients write their results into the tape.
  [
    'a tape with an actor continues the turn that waits for it',
    [awaitingActor('t1')],
    tapeOf({ actor: mira }),
    null,
    't1',
  ],
  ['a tape with an actor is a first step when no turn waits', [], tapeOf({ actor: mira }), null, 'new'],
  [
    'a tape with an actor is a first step even after a turn was opened with that actor',
    [keyOf(turnOpened('t1', { actor: mira, instruction: { type: 'QueryVector', query: '', limit: 1, threshold: 0 } }))],
    tapeOf({ actor: mira }),
    null,
    'new',
  ],
  [
    'a tape with memories continues the turn that has its actor',
    [awaitingMemories('t1')],
    tapeOf({ actor: mira, vectorQueried: true }),
    null,
    't1',
  ],
  [
    'memories count only when the tape says that it asked for them',
    [awaitingMemories('t1')],
    tapeOf({ memories: otherMemories.memories }),
    null,
    'new',
  ],
  [
    'a tape that contradicts what the turn recorded is a first step',
    [awaitingInference('t1')],
    tapeOf({ actor: mira, vectorQueried: true, memories: otherMemories.memories, generatedOutput: 'Three coins.' }),
    null,
    'new',
  ],
  [
    'a tape with everything repeats the last step of the turn that it ended',
    [ended('t1')],
    tapeOf({ actor: mira, vectorQueried: true, generatedOutput: 'Three coins.' }),
    null,
    't1',
  ],
  [
    'a tape without an output is not a repeat of an ended turn',
    [ended('t1')],
    tapeOf({ actor: mira, vectorQueried: true }),
    null,
    'new',
  ],
  [
    'a tape with another output is a first step after an ended turn',
    [ended('t1')],
    tapeOf({ actor: mira, vectorQueried: true, generatedOutput: 'Four coins.' }),
    null,
    'new',
  ],
  ['an empty output counts as absent', [awaitingInference('t1')], tapeOf({ generatedOutput: '' }), null, 'new'],
];

const findIn = (...[recent, tape, result, nowMs]: [readonly TurnKey[], Tape, ResultInput | 'unknown' | null, number]) =>
  findTurn(recent, { said: drained(saidSlices(tape.observation, tape.context)) }, tape, result, nowMs);

describe('the turn of a step without an id', () => {
  it('is a turn of the player who speaks, and nobody’s if nobody is named [12.1e]', () => {
    const of = (turnId: string, from: 'body' | 'context', id: string) =>
      awaitingActor(turnId, { player: { id, from } });
    const recent = [of('t3', 'context', 'p3'), of('t2', 'body', 'p2'), of('t1', 'body', 'p1')];
    const tape = tapeOf({ actor: mira });
    const found = (player?: string) =>
      findTurn(recent.slice(1), { said: recent[1]?.said ?? '', ...defined({ player }) }, tape, null, NOW);
    expect(found('"p1"')).toMatchObject({ turnId: 't1' });
    expect(found('"p2"')).toMatchObject({ turnId: 't2' });
    expect(found('"p3"')).toBe('new');
    expect(found()).toBe('new');
    // The context is compared as a whole.
    expect(recent[0]?.player).toBeUndefined();
  });

  it.each(cases)('%s [2.5c, 2.6f, 2.6g]', (_, recent, tape, result, expected) => {
    const found = findIn(recent, tape, result, NOW);
    expect(typeof found === 'string' ? found : found.turnId).toBe(expected);
  });

  it.each([
    ['open', awaitingActor('t1'), actor],
    ['ended', ended('t1'), output],
  ])('is not the %s turn after its deadline [2.6f]', (_, known, result) => {
    expect(findIn([known], tapeOf(), result, AFTER_DEADLINE - 1)).toBe(known);
    expect(findIn([known], tapeOf(), result, AFTER_DEADLINE)).toBe('unknown');
  });
});

describe('a turn', () => {
  it('is over when it has ended, has expired, or its deadline has passed', () => {
    const open = stateOf(turnOpened('t1'));
    const turns = [open, stateOf(...endedEvents('t1')), stateOf(...expiredEvents('t1'))];
    expect(turns.map((known) => isOver(known, NOW))).toEqual([false, true, true]);
    expect(isOver(open, AFTER_DEADLINE)).toBe(true);
  });

  it.each([
    ['the actor by its id', { type: 'actor', actor: mira }, { type: 'actor', actor: otto }],
    ['the memories by their texts', memories, otherMemories],
    ['the output by its text', output, otherOutput],
  ] satisfies [string, ResultInput, ResultInput][])('recognises %s', (_, known, other) => {
    expect(recordedSame(ended('t1'), known)).toBe(true);
    expect(recordedSame(ended('t1'), other)).toBe(false);
    expect(recordedSame(awaitingActor('t1'), known)).toBe(false);
  });
});

describe('the results of a step', () => {
  it('are read from its result', () => {
    const sent: TapeResult[] = [
      { type: 'IdentifyActorResult', actor: mira },
      { type: 'QueryVectorResult', memories: [] },
      { type: 'ExecuteInferenceResult', generatedOutput: '' },
    ];
    expect(sent.map(inputOf)).toEqual([actor, memories, { type: 'output', generatedOutput: '' }]);
  });

  it('are read from a fat tape in the order in which a turn needs them [2.5c]', () => {
    const tape = tapeOf({ generatedOutput: 'Three coins.', vectorQueried: true, actor: mira });
    expect(tapeResults(tape)).toEqual([actor, memories, output]);
    expect(tapeResults(tapeOf())).toEqual([]);
  });
});
