import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { TurnFacts } from '../../src/domain/npc/turn-facts.js';
import { jcs, type Json } from '../../src/domain/shared/json.js';
import { cellOf } from '../../workflows/process.js';
import type { TurnInput, TurnState } from '../../workflows/turn-state.js';
import { turn } from '../../workflows/turn.js';

const turnId = 't0_0_aaaaaaaaaaaaaaaa';
const facts: TurnFacts = {
  npcId: 'mira',
  mind: { persona: null, data: { hp: 3 }, revision: 7 },
  ruleset: null,
  rulesetRef: null,
  issuer: { kid: 'kid', iss: 'http://test' },
};
const actor = { npcId: 'mira', persona: 'Calm.', data: {} };
const inputs = {
  open: {
    type: 'open',
    turnId,
    observation: 'A dog barks.',
    context: {},
    npcState: {},
    deadlineAt: '2026-01-01T00:15:00.000Z',
  },
  actor: { type: 'actor', actor },
  memories: {
    type: 'memories',
    memories: [{ text: 'It barked before.', type: 'experience', importance: 0.5, similarity: 0.7 }],
  },
  output: { type: 'output', generatedOutput: 'Quiet, boy.' },
  look: { type: 'look' },
  mismatch: {
    type: 'mismatch',
    round: 0,
    members: [{ member: 'observation', recorded: 'A dog barks.', received: 'A cat.' }],
  },
  deadline: { type: 'deadline' },
} as const satisfies Record<TurnInput['type'], TurnInput>;

/** Takes one input as the shells do; null when the table refuses it. */
const take = (state: TurnState, input: TurnInput, revision = 0): { state: TurnState; types: string[] } | null => {
  const cell = cellOf(turn, state, input);
  if (cell === 'ignore') return { state, types: [] };
  if ('reject' in cell) return null;
  const events = cell.emit(state, input, facts);
  const at = '2026-01-01T00:00:00.000Z';
  const next = events.reduce(
    (folded, event, index) =>
      turn.evolve(folded, { ...event, revision: revision + index, meta: { at, commandId: 'command' } }),
    state,
  );
  return { state: next, types: events.map(({ type }) => type) };
};
const after = (...types: (keyof typeof inputs)[]): TurnState =>
  types.reduce<TurnState>(
    (state, type, revision) => take(state, inputs[type], revision * 4)?.state ?? state,
    turn.initial,
  );

const states: Record<TurnState['name'], TurnState> = {
  new: turn.initial,
  awaitingActor: after('open'),
  awaitingMemories: after('open', 'actor'),
  awaitingInference: after('open', 'actor', 'memories'),
  ended: after('open', 'actor', 'memories', 'output'),
  expired: after('open', 'deadline'),
};

/** What every input does in every state: `refused`, or the state that follows and the events. */
const expected: Record<TurnState['name'], Record<TurnInput['type'], string>> = {
  new: {
    open: 'awaitingActor TurnOpened',
    actor: 'refused',
    memories: 'refused',
    output: 'refused',
    look: 'refused',
    mismatch: 'refused',
    deadline: 'new',
  },
  awaitingActor: {
    open: 'awaitingActor',
    actor: 'awaitingMemories ActorIdentified',
    memories: 'awaitingActor',
    output: 'awaitingActor',
    look: 'awaitingActor',
    mismatch: 'awaitingActor TapeMismatchNoticed',
    deadline: 'expired TurnExpired',
  },
  awaitingMemories: {
    open: 'awaitingMemories',
    actor: 'awaitingMemories',
    memories: 'awaitingInference MemoriesRecalled',
    output: 'awaitingMemories',
    look: 'awaitingMemories',
    mismatch: 'awaitingMemories TapeMismatchNoticed',
    deadline: 'expired TurnExpired',
  },
  awaitingInference: {
    open: 'awaitingInference',
    actor: 'awaitingInference',
    memories: 'awaitingInference',
    output: 'ended VerdictReached MemoryStored',
    look: 'awaitingInference',
    mismatch: 'awaitingInference TapeMismatchNoticed',
    deadline: 'expired TurnExpired',
  },
  ended: {
    open: 'ended',
    actor: 'ended',
    memories: 'ended',
    output: 'ended',
    look: 'ended',
    mismatch: 'ended TapeMismatchNoticed',
    deadline: 'ended',
  },
  expired: {
    open: 'expired',
    actor: 'expired',
    memories: 'expired',
    output: 'expired',
    look: 'expired',
    mismatch: 'expired',
    deadline: 'expired',
  },
};

const cells = Object.entries(states).flatMap(([name, state]) =>
  Object.values<TurnInput>(inputs).map((input) => [name as TurnState['name'], input.type, state, input] as const),
);
const anyInput = fc.constantFrom(...Object.values<TurnInput>(inputs));
const json = (value: unknown): string => jcs(value as Json);

describe('the table of a turn', () => {
  it('has a cell for every state and every input, and no other', () => {
    const shape = Object.fromEntries(Object.entries(turn.table).map(([name, row]) => [name, Object.keys(row).sort()]));
    expect(shape).toEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, Object.keys(inputs).sort()])));
  });

  it.each(cells)('%s, given %s', (name, type, state, input) => {
    expect(state.name).toBe(name);
    const taken = take(state, input, 40);
    expect(taken === null ? 'refused' : [taken.state.name, ...taken.types].join(' ')).toBe(expected[name][type]);
  });

  it('leads nowhere but to the states that its cells name', () => {
    for (const [name, type, state, input] of cells) {
      const cell = cellOf(turn, state, input);
      if (cell === 'ignore' || 'reject' in cell) continue;
      expect(cell.to, `${name} ${type}`).toContain(take(state, input, 40)?.state.name);
    }
  });

  it('knows no input and no state by a name of Object.prototype', () => {
    expect(cellOf(turn, states.ended, { type: 'constructor' })).toBe('ignore');
    expect(cellOf(turn, { name: '__proto__' }, inputs.open)).toBe('ignore');
  });

  it('opens with the results that a resumed tape brings', () => {
    const known = take(turn.initial, { ...inputs.open, actor });
    expect(known?.state.name).toBe('awaitingMemories');
    const recalled = take(turn.initial, { ...inputs.open, actor, memories: [] });
    expect(recalled?.state.name).toBe('awaitingInference');
  });

  it('notes the same contradiction once', () => {
    const noticed = take(states.awaitingActor, inputs.mismatch, 8);
    expect(take(noticed?.state ?? turn.initial, { ...inputs.mismatch, round: 1 }, 12)?.types).toEqual([]);
  });
});

describe('any sequence of inputs', () => {
  it('stays in plain JSON states that the table knows, ends at most once, and has one verdict at most', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 20 }), (sequence) => {
        let state: TurnState = turn.initial;
        const types: string[] = [];
        for (const [index, input] of sequence.entries()) {
          const taken = take(state, input, index * 4);
          if (taken === null) continue;
          if (turn.over(state)) expect(turn.over(taken.state)).toBe(true);
          types.push(...taken.types);
          state = taken.state;
        }
        expect(Object.keys(turn.table)).toContain(state.name);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
        expect(types.filter((type) => type.startsWith('Verdict')).length).toBeLessThanOrEqual(1);
        expect(types.length === 0 || types[0] === 'TurnOpened').toBe(true);
      }),
    );
  });

  it('never changes an answer that it gave', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 12 }), fc.array(anyInput, { maxLength: 6 }), (first, later) => {
        const run = (state: TurnState, sequence: readonly TurnInput[], offset: number): TurnState =>
          sequence.reduce((held, input, index) => take(held, input, offset + index * 4)?.state ?? held, state);
        const before = run(turn.initial, [inputs.open, ...first], 0);
        if (before.name === 'new') return;
        const rounds = before.rounds.map((_, round) => json(turn.answer(before, { type: 'look', round })));
        const behind = run(before, later, 1_000);
        rounds.forEach((text, round) => {
          expect(json(turn.answer(behind, { type: 'look', round }))).toBe(text);
        });
      }),
    );
  });

  it('folds foreign and unknown events without a throw and without a change', () => {
    const meta = { at: '2026-01-01T00:00:00.000Z', commandId: 'x' };
    for (const state of Object.values(states)) {
      for (const type of ['NpcRegistered', 'StateChanged', 'constructor', 'SomethingNew']) {
        expect(turn.evolve(state, { type, data: {}, revision: 99, meta })).toEqual(state);
      }
    }
  });

  it('waits for its client alone, until its deadline', () => {
    for (const [name, state] of Object.entries(states)) {
      expect(turn.pending(state)).toBeNull();
      const open = name.startsWith('awaiting');
      expect(turn.deadline(state)).toEqual(open ? { at: inputs.open.deadlineAt, input: { type: 'deadline' } } : null);
      expect(turn.over(state)).toBe(name === 'ended' || name === 'expired');
    }
  });
});
