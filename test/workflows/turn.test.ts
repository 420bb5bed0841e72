import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { TurnFacts } from '../../src/domain/npc/decision/turn-facts.js';
import { jcs, type Json } from '../../src/domain/shared/json.js';
import { cellOf, type Emitted, type ProcessEvent } from '../../workflows/process.js';
import type { TurnInput, TurnState } from '../../workflows/turn-state.js';
import { MISMATCHES_NOTED } from '../../src/domain/npc/tape-mismatch.js';
import { turn } from '../../workflows/turn.js';
import { aRuleset } from '../support/rules.js';

const turnId = 't0_0_aaaaaaaaaaaaaaaa';
const facts: TurnFacts = {
  npcId: 'mira',
  mind: { persona: null, data: { hp: 3 }, revision: 7 },
  ruleset: null,
  rulesetRef: null,
  issuer: { kid: 'kid', iss: 'http://test' },
};
/** A model's text that the mind refuses: its state change is no object. */
const REFUSED_OUTPUT = '{"dialogue": "Hm.", "stateDelta": 5}';
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

type Taken = { readonly state: TurnState; readonly events: readonly ProcessEvent[] };

/** As they stand in the stream, from a revision on. */
const record = (events: readonly Emitted[], revision: number): readonly ProcessEvent[] =>
  events.map((event, index) => ({
    ...event,
    revision: revision + index,
    meta: {
      at: new Date(Date.UTC(2026, 0, 1) + revision).toISOString(),
      commandId: `command-${revision}`,
      schemaVersion: 1,
    },
  }));
const fold = (events: readonly ProcessEvent[], from: TurnState = turn.initial): TurnState =>
  events.reduce((state, event) => turn.evolve(state, event), from);

/** Takes one input as the shells do; null when the table refuses it. */
const take = (state: TurnState, input: TurnInput, revision = 0, seen = facts): Taken | null => {
  const cell = cellOf(turn, state, input);
  if (cell === 'ignore') return { state, events: [] };
  if ('reject' in cell) return null;
  const events = record(cell.emit(state, input, seen), revision);
  return { state: fold(events, state), events };
};
const typesOf = (taken: Taken | null): readonly string[] => taken?.events.map(({ type }) => type) ?? [];
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
const json = (value: unknown): string => jcs(value as Json);

describe('the table of a turn', () => {
  it('has a cell for every state and every input, and no other', () => {
    const shape = Object.fromEntries(Object.entries(turn.table).map(([name, row]) => [name, Object.keys(row).sort()]));
    expect(shape).toEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, Object.keys(inputs).sort()])));
  });

  it.each(cells)('%s, given %s', (name, type, state, input) => {
    expect(state.name).toBe(name);
    const taken = take(state, input, 40);
    expect(taken === null ? 'refused' : [taken.state.name, ...typesOf(taken)].join(' ')).toBe(expected[name][type]);
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
    // Without an actor the memories cannot be placed yet.
    const early = take(turn.initial, { ...inputs.open, memories: [] });
    expect(early?.state.name).toBe('awaitingActor');
    expect(early?.events[0]?.data).not.toHaveProperty('memories');
  });

  it('notes a ruleset that nobody registered before the opening, and says so in every answer', () => {
    const missing = { ...facts, rulesetMissing: 'nowhere' };
    const opened = take(turn.initial, { ...inputs.open, rulesetId: 'nowhere' }, 0, missing);
    expect(typesOf(opened)).toEqual(['RulesetMissing', 'TurnOpened']);
    expect(opened?.events[1]?.data).not.toHaveProperty('rulesetId');
    const state = opened?.state ?? turn.initial;
    expect(turn.answer(state, inputs.open)).toMatchObject({ rulesetMissing: 'nowhere' });
    const later = take(state, inputs.actor, 8)?.state ?? turn.initial;
    expect(turn.answer(later, inputs.actor)).toMatchObject({ rulesetMissing: 'nowhere' });
  });

  it('notes the same contradiction once, and another one too', () => {
    const noticed = take(states.awaitingActor, inputs.mismatch, 8)?.state ?? turn.initial;
    expect(typesOf(take(noticed, { ...inputs.mismatch, round: 1 }, 12))).toEqual([]);
    const [member] = inputs.mismatch.members;
    const other = { ...inputs.mismatch, members: [{ ...member, received: 'A bird.' }] };
    expect(typesOf(take(noticed, other, 12))).toEqual(['TapeMismatchNoticed']);
  });

  it('notes so many different contradictions and no more, and keeps little of each', () => {
    let state: TurnState = states.awaitingActor;
    let events = 0;
    for (let n = 0; n < MISMATCHES_NOTED + 10; n += 1) {
      const members = [{ member: 'observation', recorded: 'x'.repeat(1_000), received: String(n) }];
      const taken = take(state, { type: 'mismatch', round: 0, members }, 8 + n);
      events += typesOf(taken).length;
      state = taken?.state ?? state;
    }
    expect(events).toBe(MISMATCHES_NOTED);
    expect(JSON.stringify(state).length - JSON.stringify(states.awaitingActor).length).toBeLessThan(3_000);
  });

  it('ends a turn with the verdict alone when it is refused', () => {
    const refused = take(states.awaitingInference, { type: 'output', generatedOutput: REFUSED_OUTPUT }, 12);
    expect(typesOf(refused)).toEqual(['VerdictRefused']);
    expect(turn.answer(refused?.state ?? turn.initial, undefined)).not.toHaveProperty('signing');
  });

  it('ends a turn with the verdict, its state change and each of its memories', () => {
    const generatedOutput = '{"dialogue": "Hm.", "stateDelta": {"hp": 2}, "memories": ["It barks.", "It is old."]}';
    const { events = [] } = take(states.awaitingInference, { type: 'output', generatedOutput }, 12) ?? {};
    expect(events.map(({ type }) => type)).toEqual(['VerdictReached', 'StateChanged', 'MemoryStored', 'MemoryStored']);
    expect(events[0]?.data).toMatchObject({ mindRevision: 7, kid: 'kid', iss: 'http://test' });
    expect(events[1]?.data).toEqual({ turnId, patch: { hp: 2 } });
    expect(new Set(events.slice(2).map(({ data }) => data['memoryId'])).size).toBe(2);
  });
});

describe('the answer of a round', () => {
  const answers = [0, 1, 2, 3].map((round) => turn.answer(states.ended, { type: 'look', round }));

  it('holds the tape as it was recorded up to then', () => {
    const base = ['context', 'memories', 'npcState', 'observation', 'turnId', 'vectorQueried'];
    const prompted = [...base, 'actor', 'constraints', 'prompt'];
    expect(answers.map((answer) => Object.keys(answer?.tape ?? {}).sort())).toEqual(
      [base, [...base, 'actor'], prompted, [...prompted, 'generatedOutput']].map((names) => names.toSorted()),
    );
    expect(answers.map((answer) => answer?.tape['vectorQueried'])).toEqual([false, false, true, true]);
    expect(answers[1]?.tape['memories']).toEqual([]);
  });

  it('says what to do next, and at the end what was decided and what its signature is made from', () => {
    expect(answers.map((answer) => answer?.instruction.type)).toEqual([
      'IdentifyActor',
      'QueryVector',
      'ExecuteInference',
      'Finalize',
    ]);
    expect(answers[3]).toMatchObject({
      instruction: { verdict: { valid: true, dialogue: 'Quiet, boy.' } },
      signing: { revision: 12, kid: 'kid', iss: 'http://test' },
    });
  });

  it('is given to whom sends its result again, and the latest to whom asks for none or for one not yet reached', () => {
    const roundOf = (state: TurnState, input: TurnInput | undefined): unknown => turn.answer(state, input)?.round;
    const { open, actor: identified, memories, output, look, mismatch, deadline } = inputs;
    const asked = [open, identified, memories, output, look, mismatch, deadline, undefined];
    expect(asked.map((input) => roundOf(states.ended, input))).toEqual([0, 1, 2, 3, 3, 0, 3, 3]);
    expect([output, { ...look, round: 9 }].map((input) => roundOf(states.awaitingMemories, input))).toEqual([1, 1]);
    expect(turn.answer(turn.initial, look)).toBeUndefined();
  });
});

/** Inputs of every type, with what a client may vary. */
const anyInput: fc.Arbitrary<TurnInput> = fc.oneof(
  fc.constantFrom<TurnInput>(...Object.values(inputs)),
  fc
    .record({
      knowsActor: fc.boolean(),
      knowsMemories: fc.boolean(),
      persona: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
      observation: fc.string({ unit: 'grapheme' }),
    })
    .map(({ knowsActor, knowsMemories, persona, observation }) => ({
      ...inputs.open,
      observation,
      ...(persona === undefined ? {} : { persona }),
      ...(knowsActor ? { actor } : {}),
      ...(knowsMemories ? { memories: inputs.memories.memories } : {}),
    })),
  fc.string({ unit: 'grapheme' }).map((npcId): TurnInput => ({ ...inputs.actor, actor: { ...actor, npcId } })),
  fc
    .oneof(fc.string({ unit: 'grapheme' }), fc.constant(REFUSED_OUTPUT))
    .map((generatedOutput): TurnInput => ({ type: 'output', generatedOutput })),
  fc.nat(5).map((round): TurnInput => ({ type: 'look', round })),
  fc.tuple(fc.nat(5), fc.constantFrom('A cat.', 'A bird.')).map(([round, received]): TurnInput => {
    const [member] = inputs.mismatch.members;
    return { ...inputs.mismatch, round, members: [{ ...member, received }] };
  }),
);
const anyFacts = fc.constantFrom<TurnFacts>(facts, { ...facts, rulesetMissing: 'nowhere' });

/** Takes one input after the other; what the table refuses changes nothing. */
const run = (from: TurnState, sequence: readonly TurnInput[], seen: TurnFacts, revision = 0): Taken => {
  let state = from;
  const events: ProcessEvent[] = [];
  for (const [index, input] of sequence.entries()) {
    const taken = take(state, input, revision + index * 10, seen);
    if (taken === null) continue;
    events.push(...taken.events);
    state = taken.state;
  }
  return { state, events };
};

describe('any sequence of inputs', () => {
  it('stays in states that the table knows, opens first and once, and ends at most once', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 20 }), anyFacts, (sequence, seen) => {
        const { state, events } = run(turn.initial, sequence, seen);
        expect(Object.keys(turn.table)).toContain(state.name);
        const types = events.map(({ type }) => type);
        const opening = seen.rulesetMissing === undefined ? ['TurnOpened'] : ['RulesetMissing', 'TurnOpened'];
        expect(types.slice(0, opening.length)).toEqual(types.length === 0 ? [] : opening);
        expect(types.filter((type) => type === 'TurnOpened').length).toBeLessThanOrEqual(1);
        const ends = types.filter((type) => type.startsWith('Verdict') || type === 'TurnExpired');
        expect(ends).toHaveLength(turn.over(state) ? 1 : 0);
        for (const event of events) expect(turn.owns(turnId, event)).toBe(true);
      }),
    );
  });

  it('makes plain JSON, from which the same turn is folded again', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 20 }), anyFacts, (sequence, seen) => {
        const { state, events } = run(turn.initial, sequence, seen);
        const stored = JSON.parse(JSON.stringify(events)) as ProcessEvent[];
        expect(stored).toEqual(events);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
        expect(json(fold(stored))).toBe(json(state));
        expect(run(turn.initial, sequence, seen)).toEqual({ state, events });
      }),
    );
  });

  it('never changes an answer that it gave, whatever comes later', () => {
    const sequence = fc.array(anyInput, { maxLength: 10 });
    fc.assert(
      fc.property(anyFacts, sequence, sequence, (seen, first, later) => {
        const before = run(turn.initial, [inputs.open, ...first], seen).state;
        if (before.name === 'new') throw new Error('the turn was never opened');
        const behind = run(before, later, seen, 1_000).state;
        before.rounds.forEach((_, round) => {
          const text = json(turn.answer(before, { type: 'look', round }));
          expect(json(turn.answer(behind, { type: 'look', round }))).toBe(text);
        });
      }),
    );
  });

  it('leaves the states it came through as they were', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(states)), anyInput, anyFacts, (state, input, seen) => {
        const text = json(state);
        take(state, input, 40, seen);
        turn.answer(state, input);
        expect(json(state)).toBe(text);
      }),
    );
  });
});

describe('folding', () => {
  const meta = { at: '2026-01-01T00:00:00.000Z', commandId: 'x', schemaVersion: 1 };
  const everyEvent = run(turn.initial, [inputs.open, inputs.mismatch, inputs.actor, inputs.memories, inputs.output], {
    ...facts,
    rulesetMissing: 'nowhere',
  }).events.concat(run(states.awaitingActor, [inputs.deadline], facts, 90).events);

  it('leaves a turn as it is by events that are not known or not its own', () => {
    const foreign = ['NpcRegistered', 'StateChanged', 'MemoryStored', 'constructor', '__proto__', 'SomethingNew'];
    for (const state of Object.values(states)) {
      for (const type of foreign) {
        expect(turn.evolve(state, { type, data: {}, revision: 99, meta })).toBe(state);
      }
    }
  });

  it('takes any events in any order to a state that the table knows, without a throw', () => {
    const foreign = { type: 'SomethingNew', data: {}, revision: 99, meta };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...everyEvent, foreign), { maxLength: 15 }), (events) => {
        const state = fold(events);
        expect(Object.keys(turn.table)).toContain(state.name);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }),
    );
  });

  it('is of the events that carry the id of the turn', () => {
    expect(turn.owns(turnId, { type: 'TurnExpired', data: { turnId } })).toBe(true);
    expect(turn.owns(turnId, { type: 'TurnExpired', data: { turnId: 't1' } })).toBe(false);
    expect(turn.owns(turnId, { type: 'NpcRegistered', data: {} })).toBe(false);
  });
});

describe('what patterns found', () => {
  const ruleset = aRuleset([{ ruleObsPattern: 'cat', ruleAction: 'FORBID *' }]);
  const ruled: TurnFacts = { ...facts, ruleset, rulesetRef: { rulesetId: 'test', version: 1 } };
  const play = (patternsHeld: readonly string[] | undefined) => {
    const opened = take(turn.initial, inputs.open, 0, patternsHeld === undefined ? ruled : { ...ruled, patternsHeld });
    const opening = opened?.events.find(({ type }) => type === 'TurnOpened')?.data;
    const events = [inputs.actor, inputs.memories, inputs.output].reduce<Taken>(
      // Facts of a later step say nothing, or something else: what counts is what the opening recorded.
      (taken, input, index) => take(taken.state, input, index + 1, { ...ruled, patternsHeld: ['other'] }) ?? taken,
      opened as Taken,
    ).events;
    return { opening, ended: events[0]?.type };
  };

  it('is recorded by the opening, and decides the whole turn: nothing is tried again', () => {
    // The observation holds no cat: the recorded outcome decides, not the pattern.
    expect(play(['r1'])).toMatchObject({ opening: { patternsHeld: ['r1'] }, ended: 'VerdictRefused' });
    expect(play(undefined).ended).toBe('VerdictReached');
    expect(play(undefined).opening).not.toHaveProperty('patternsHeld');
  });
});

describe('a turn', () => {
  it('waits for its client alone, until its deadline', () => {
    for (const [name, state] of Object.entries(states)) {
      expect(turn.pending(state)).toBeNull();
      const open = name.startsWith('awaiting');
      expect(turn.deadline(state)).toEqual(open ? { at: inputs.open.deadlineAt, input: { type: 'deadline' } } : null);
      expect(turn.over(state)).toBe(name === 'ended' || name === 'expired');
    }
  });
});
