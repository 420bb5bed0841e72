import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { TurnFacts } from '../../../src/features/turns/domain/decision/turn-facts.js';
import { jcs, type Json } from '../../../src/kernel/base/json.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { transitionOf, pendingEffect } from '../../../src/kernel/processes/state-machine.js';
import type { TurnInput, TurnState } from '../../../workflows/turn/turn-state.js';
import { MISMATCHES_NOTED } from '../../../src/features/turns/domain/tape-mismatch.js';
import { turn } from '../../../workflows/turn/turn.js';
import { givenOf, inTable } from '../../support/given.js';
import { draftOf } from '../../support/histories.js';
import { aRuleset } from '../../support/rules.js';

const turnId = 't0_0_aaaaaaaaaaaaaaaa';
const facts: TurnFacts = {
  npcId: 'mira',
  mind: { persona: null, data: { hp: 3 }, facts: {}, revision: 7 },
  ruleset: null,
  rulesetRef: null,
  issuer: { kid: 'kid', iss: 'http://test' },
};
/** A model’s text that the mind refuses: its state change is not an object. */
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

const given = givenOf(turn);
type Turn = ReturnType<typeof given>;
const take = (before: Turn, input: TurnInput, seen = facts) => before.when(inTable(turn), input, seen);
const typesOf = ({ events }: Pick<ReturnType<typeof take>, 'events'>) => events?.map(({ type }) => type);

/** A turn that opens when its mind is nine events old. */
const fresh = given(...Array.from({ length: 9 }, () => ({ type: 'NpcUpdated', data: {} })));
const after = (...types: (keyof typeof inputs)[]): Turn =>
  types.reduce((before, type) => take(before, inputs[type]).and, fresh);
const turns: Record<TurnState['name'], Turn> = {
  new: fresh,
  awaitingActor: after('open'),
  awaitingMemories: after('open', 'actor'),
  awaitingInference: after('open', 'actor', 'memories'),
  ended: after('open', 'actor', 'memories', 'output'),
  failed: given(
    ...after('open', 'actor', 'memories').events,
    draftOf({ type: 'TurnFailed', data: { turnId: inputs.open.turnId, code: 'CORTEX_NO_ANSWER', reason: 'No text.' } }),
  ),
  expired: after('open', 'deadline'),
};

/** The effect of every input in every state: `refused`, or the next state and the events. */
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
  failed: {
    open: 'failed',
    actor: 'failed',
    memories: 'failed',
    output: 'failed',
    look: 'failed',
    mismatch: 'failed',
    deadline: 'failed',
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

const transitions = Object.entries(turns).flatMap(([name, before]) =>
  Object.values<TurnInput>(inputs).map((input) => [name as TurnState['name'], input.type, before, input] as const),
);
const json = (value: unknown): string => jcs(value as Json);

describe('the state machine of a turn', () => {
  it('has a transition for every state and every input, and no other [2.6a]', () => {
    const shape = Object.fromEntries(
      Object.entries(turn.transitions).map(([name, row]) => [name, Object.keys(row).sort()]),
    );
    expect(shape).toEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, Object.keys(inputs).sort()])));
  });

  it.each(transitions)('defines the effect in the state %s of the input %s', (name, type, before, input) => {
    expect(before.state.name).toBe(name);
    const taken = take(before, input);
    const types = typesOf(taken);
    expect(types === undefined ? 'refused' : [taken.and.state.name, ...types].join(' ')).toBe(expected[name][type]);
  });

  it('leads only to the states that its transitions name', () => {
    for (const [name, type, before, input] of transitions) {
      const transition = transitionOf(turn, before.state, input);
      if (transition === 'ignore' || 'reject' in transition) continue;
      expect(transition.to, `${name} ${type}`).toContain(take(before, input).and.state.name);
    }
  });

  it('has no input or state with a name of Object.prototype', () => {
    expect(transitionOf(turn, turns.ended.state, { type: 'constructor' })).toBe('ignore');
    expect(transitionOf(turn, { name: '__proto__' }, inputs.open)).toBe('ignore');
  });

  it('opens with the results that a resumed tape contains', () => {
    expect(take(fresh, { ...inputs.open, actor }).and.state.name).toBe('awaitingMemories');
    expect(take(fresh, { ...inputs.open, actor, memories: [] }).and.state.name).toBe('awaitingInference');
    // Without an actor the memories cannot be used yet.
    const early = take(fresh, { ...inputs.open, memories: [] });
    expect(early.and.state.name).toBe('awaitingActor');
    expect(early.events?.[0]?.data).not.toHaveProperty('memories');
  });

  it('notes an unregistered ruleset before the opening, and reports it in every answer', () => {
    const missing = { ...facts, rulesetMissing: 'nowhere' };
    const opened = take(fresh, { ...inputs.open, rulesetId: 'nowhere' }, missing);
    expect(typesOf(opened)).toEqual(['RulesetMissing', 'TurnOpened']);
    expect(opened.events?.[1]?.data).not.toHaveProperty('rulesetId');
    expect(turn.answer(opened.and.state, inputs.open)).toMatchObject({ rulesetMissing: 'nowhere' });
    const later = take(opened.and, inputs.actor).and.state;
    expect(turn.answer(later, inputs.actor)).toMatchObject({ rulesetMissing: 'nowhere' });
  });

  it('notes the same contradiction once, and another one as well', () => {
    const noticed = after('open', 'mismatch');
    expect(typesOf(take(noticed, { ...inputs.mismatch, round: 1 }))).toEqual([]);
    const [member] = inputs.mismatch.members;
    const other = { ...inputs.mismatch, members: [{ ...member, received: 'A bird.' }] };
    expect(typesOf(take(noticed, other))).toEqual(['TapeMismatchNoticed']);
  });

  it('notes a bounded number of different contradictions, and keeps little of each', () => {
    let noticing = turns.awaitingActor;
    const before = noticing;
    for (let n = 0; n < MISMATCHES_NOTED + 10; n += 1) {
      const members = [{ member: 'observation', recorded: 'x'.repeat(1_000), received: String(n) }];
      noticing = take(noticing, { type: 'mismatch', round: 0, members }).and;
    }
    expect(noticing.events.length - before.events.length).toBe(MISMATCHES_NOTED);
    expect(JSON.stringify(noticing.state).length - JSON.stringify(before.state).length).toBeLessThan(3_000);
  });

  it('ends a turn with only the verdict when it is refused [2.4b]', () => {
    const refused = take(turns.awaitingInference, { type: 'output', generatedOutput: REFUSED_OUTPUT });
    expect([refused.and.state.name, typesOf(refused)]).toEqual(['ended', ['VerdictRefused']]);
    expect(turn.answer(refused.and.state, undefined)).not.toHaveProperty('signing');
  });

  it('ends a turn with the verdict, its state change and each of its memories [2.6c]', () => {
    const generatedOutput = '{"dialogue": "Hm.", "stateDelta": {"hp": 2}, "memories": ["It barks.", "It is old."]}';
    const events = take(turns.awaitingInference, { type: 'output', generatedOutput }).events ?? [];
    expect(events.map(({ type }) => type)).toEqual(['VerdictReached', 'StateChanged', 'MemoryStored', 'MemoryStored']);
    expect(events[0]?.data).toMatchObject({ mindRevision: 7, kid: 'kid', iss: 'http://test' });
    expect(events[1]?.data).toEqual({ turnId, patch: { hp: 2 } });
    expect(new Set(events.slice(2).map(({ data }) => data['memoryId'])).size).toBe(2);
  });
});

describe('the answer of a round', () => {
  const answers = [0, 1, 2, 3].map((round) => turn.answer(turns.ended.state, { type: 'look', round }));

  it('contains the tape as recorded up to that round [2.2b, 2.2c]', () => {
    const base = ['context', 'memories', 'npcState', 'observation', 'turnId', 'vectorQueried'];
    const prompted = [...base, 'actor', 'constraints', 'prompt'];
    expect(answers.map((answer) => Object.keys(answer?.tape ?? {}).sort())).toEqual(
      [base, [...base, 'actor'], prompted, [...prompted, 'generatedOutput']].map((names) => names.toSorted()),
    );
    expect(answers.map((answer) => answer?.tape['vectorQueried'])).toEqual([false, false, true, true]);
    expect(answers[1]?.tape['memories']).toEqual([]);
  });

  it('contains the next instruction, and at the end the verdict and its signed content', () => {
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

  it('is repeated for a client that resends its result; a request without a round, or for a future one, gets the latest', () => {
    const roundOf = ({ state }: Turn, input: TurnInput | undefined): unknown => turn.answer(state, input)?.round;
    const { open, actor: identified, memories, output, look, mismatch, deadline } = inputs;
    const asked = [open, identified, memories, output, look, mismatch, deadline, undefined];
    expect(asked.map((input) => roundOf(turns.ended, input))).toEqual([0, 1, 2, 3, 3, 0, 3, 3]);
    expect([output, { ...look, round: 9 }].map((input) => roundOf(turns.awaitingMemories, input))).toEqual([1, 1]);
    expect(turn.answer(turn.initial, look)).toBeUndefined();
  });
});

/** Inputs of every type, with the members that a client may vary. */
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

/** Applies one input after the other; a refused one changes nothing. */
const run = (from: Turn, sequence: readonly TurnInput[], seen: TurnFacts): Turn =>
  sequence.reduce((before, input) => {
    const taken = take(before, input, seen);
    return taken.events === null ? before : taken.and;
  }, from);

describe('any sequence of inputs', () => {
  it('stays in defined states, opens first and once, and ends at most once', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 20 }), anyFacts, (sequence, seen) => {
        const { state, events } = run(given(), sequence, seen);
        expect(Object.keys(turn.transitions)).toContain(state.name);
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
        const { state, events } = run(given(), sequence, seen);
        const stored = JSON.parse(JSON.stringify(events)) as RecordedEvent[];
        expect(stored).toEqual(events);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
        expect(json(given(...stored).state)).toBe(json(state));
        const again = run(given(), sequence, seen);
        expect({ state: again.state, events: again.events }).toEqual({ state, events });
      }),
    );
  });

  it('never changes an earlier answer', () => {
    const sequence = fc.array(anyInput, { maxLength: 10 });
    fc.assert(
      fc.property(anyFacts, sequence, sequence, (seen, first, later) => {
        const before = run(given(), [inputs.open, ...first], seen);
        if (before.state.name === 'new') throw new Error('the turn was never opened');
        const behind = run(before, later, seen);
        for (const round of before.state.rounds.keys()) {
          const text = json(turn.answer(before.state, { type: 'look', round }));
          expect(json(turn.answer(behind.state, { type: 'look', round }))).toBe(text);
        }
      }),
    );
  });

  it('does not mutate the initial state', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(turns)), anyInput, anyFacts, (before, input, seen) => {
        const text = json(before.state);
        run(before, [input], seen);
        turn.answer(before.state, input);
        expect(json(before.state)).toBe(text);
      }),
    );
  });
});

describe('folding', () => {
  const whole = [inputs.open, inputs.mismatch, inputs.actor, inputs.memories, inputs.output];
  const everyEvent = [
    ...run(given(), whole, { ...facts, rulesetMissing: 'nowhere' }).events,
    ...(take(turns.awaitingActor, inputs.deadline).events ?? []),
  ];

  it('keeps a turn unchanged on unknown or foreign events', () => {
    const foreign = ['NpcRegistered', 'StateChanged', 'MemoryStored', 'constructor', '__proto__', 'SomethingNew'];
    for (const before of Object.values(turns)) {
      for (const type of foreign) expect(before.when(() => [{ type, data: {} }]).and.state).toBe(before.state);
    }
  });

  it('leads any events in any order to a defined state, without a throw', () => {
    const foreign = { type: 'SomethingNew', data: {} };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...everyEvent, foreign), { maxLength: 15 }), (events) => {
        const { state } = given(...events);
        expect(Object.keys(turn.transitions)).toContain(state.name);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }),
    );
  });

  it('reads only events with the id of the turn', () => {
    expect(turn.owns(turnId, { type: 'TurnExpired', data: { turnId } })).toBe(true);
    expect(turn.owns(turnId, { type: 'TurnExpired', data: { turnId: 't1' } })).toBe(false);
    expect(turn.owns(turnId, { type: 'NpcRegistered', data: {} })).toBe(false);
  });
});

describe('the outcome of patterns', () => {
  const ruleset = aRuleset([{ ruleObsPattern: 'cat', ruleAction: 'FORBID *' }]);
  const ruled: TurnFacts = { ...facts, ruleset, rulesetRef: { rulesetId: 'test', version: 1 } };
  const play = (patternsHeld: readonly string[] | undefined) => {
    const opened = take(fresh, inputs.open, patternsHeld === undefined ? ruled : { ...ruled, patternsHeld });
    const opening = opened.events?.find(({ type }) => type === 'TurnOpened')?.data;
    // Facts of a later step are empty or different: the record of the opening counts.
    const later = { ...ruled, patternsHeld: ['other'] };
    const { events } = take(run(opened.and, [inputs.actor, inputs.memories], later), inputs.output, later);
    return { opening, ended: events?.[0]?.type };
  };

  it('is recorded by the opening and used for the entire turn: no pattern is tried again', () => {
    // The observation contains no cat: the recorded outcome decides, not the pattern.
    expect(play(['r1'])).toMatchObject({ opening: { patternsHeld: ['r1'] }, ended: 'VerdictRefused' });
    expect(play(undefined).ended).toBe('VerdictReached');
    expect(play(undefined).opening).not.toHaveProperty('patternsHeld');
  });
});

describe('a turn', () => {
  it('waits only for its client, until its deadline', () => {
    for (const [name, { state }] of Object.entries(turns)) {
      expect(pendingEffect(turn, state)).toBeNull();
      const open = name.startsWith('awaiting');
      expect(turn.deadline(state)).toEqual(open ? { at: inputs.open.deadlineAt, input: { type: 'deadline' } } : null);
      expect(turn.over(state)).toBe(name !== 'new' && !open);
    }
  });
});
