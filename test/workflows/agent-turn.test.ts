import { describe, expect, it } from 'vitest';

import { countTokens } from '../../src/kernel/model-text/count-tokens.js';
import type { TurnFacts } from '../../src/features/turns/domain/decision/turn-facts.js';
import type { TurnState } from '../../workflows/turn/turn-state.js';
import { type AgentTurnInput, agentTurn } from '../../workflows/agent-turn.js';
import { transitionOf, pendingEffect, statusOf } from '../../src/kernel/processes/state-machine.js';
import { givenOf, inTable } from '../support/given.js';

const turnId = 't0_0_aaaaaaaaaaaaaaaa';
const facts: TurnFacts = {
  npcId: 'mira',
  mind: { persona: 'An innkeeper.', data: { hp: 3 }, facts: {}, revision: 7 },
  ruleset: null,
  rulesetRef: null,
  issuer: { kid: 'kid', iss: 'http://test' },
};
const inputs = {
  open: {
    type: 'open',
    turnId,
    observation: 'Who stole it?',
    context: {},
    npcState: {},
    promptAt: '2026-01-01T00:00:00.000Z',
    deadlineAt: '2026-01-01T00:15:00.000Z',
  },
  memories: {
    type: 'memories',
    memories: [
      {
        text: 'The player stole a necklace.',
        type: 'observation',
        importance: 0.5,
        similarity: 0.7,
        memoryId: 'm1',
        revision: 3,
        scoreParts: { meaning: 0.7 },
      },
    ],
  },
  output: { type: 'output', generatedOutput: 'It was you.', cortexId: 'scripted' },
  missing: { type: 'missing', cortexId: 'openai', reason: 'It answers without a text.', attempt: 1 },
  tooLong: { type: 'tooLong', cortexId: 'openai', reason: 'It is too long.', attempt: 1, shortened: false },
  deadline: { type: 'deadline' },
} as const satisfies Record<AgentTurnInput['type'], AgentTurnInput>;

const given = givenOf(agentTurn);
type Turn = ReturnType<typeof given>;
const take = (before: Turn, input: AgentTurnInput) => before.when(inTable(agentTurn), input, facts);
const fresh = given({ type: 'NpcUpdated', data: {} });
const after = (...types: (keyof typeof inputs)[]): Turn =>
  types.reduce((before, type) => take(before, inputs[type]).and, fresh);
const turns = {
  new: fresh,
  awaitingMemories: after('open'),
  awaitingInference: after('open', 'memories'),
  ended: after('open', 'memories', 'output'),
  failed: [2, 3].reduce(
    (before, attempt) => take(before, { ...inputs.missing, attempt }).and,
    after('open', 'memories', 'missing'),
  ),
  expired: after('open', 'deadline'),
} satisfies Partial<Record<TurnState['name'], Turn>>;

/** The effect of every input in every state of an agent’s turn: the next state and the events. */
const expected: Record<keyof typeof turns, Record<AgentTurnInput['type'], string>> = {
  new: {
    open: 'awaitingMemories TurnOpened',
    ...{ memories: 'new', output: 'new', missing: 'new', tooLong: 'new', deadline: 'new' },
  },
  awaitingMemories: {
    open: 'awaitingMemories',
    memories: 'awaitingInference MemoriesRecalled',
    output: 'awaitingMemories',
    missing: 'awaitingMemories',
    tooLong: 'awaitingMemories',
    deadline: 'expired TurnExpired',
  },
  awaitingInference: {
    open: 'awaitingInference',
    memories: 'awaitingInference',
    output: 'ended VerdictReached MemoryStored',
    missing: 'awaitingInference AnswerMissing',
    tooLong: 'awaitingInference PromptShortened',
    deadline: 'expired TurnExpired',
  },
  ended: { open: 'ended', memories: 'ended', output: 'ended', missing: 'ended', tooLong: 'ended', deadline: 'ended' },
  failed: {
    open: 'failed',
    memories: 'failed',
    output: 'failed',
    missing: 'failed',
    tooLong: 'failed',
    deadline: 'failed',
  },
  expired: {
    open: 'expired',
    memories: 'expired',
    output: 'expired',
    missing: 'expired',
    tooLong: 'expired',
    deadline: 'expired',
  },
};
const transitions = Object.entries(turns).flatMap(([name, before]) =>
  Object.values<AgentTurnInput>(inputs).map(
    (input) => [name as keyof typeof turns, input.type, before, input] as const,
  ),
);

describe('the state machine of an agent’s turn', () => {
  it.each(transitions)('defines the effect in the state %s of the input %s', (name, type, before, input) => {
    expect(before.state.name).toBe(name);
    const taken = take(before, input);
    const types = taken.events?.map((event) => event.type) ?? ['refused'];
    expect([taken.and.state.name, ...types].join(' ')).toBe(expected[name][type]);
  });

  it('leads only to the states that its transitions name, and never waits for the actor', () => {
    for (const [name, type, before, input] of transitions) {
      const transition = transitionOf(agentTurn, before.state, input);
      if (transition === 'ignore' || 'reject' in transition) continue;
      expect(transition.to, `${name} ${type}`).toContain(take(before, input).and.state.name);
      expect(transition.to).not.toContain('awaitingActor');
    }
  });

  it('waits for a recall of its mind first, and then for the text of an engine', () => {
    expect(statusOf(agentTurn, fresh.state)).toMatchObject({ effect: null, due: null });
    expect(pendingEffect(agentTurn, turns.awaitingMemories.state)).toEqual({
      id: 'recall',
      name: 'recall',
      args: { query: 'Who stole it?', limit: 5, threshold: 0.5 },
    });
    const infer = pendingEffect(agentTurn, turns.awaitingInference.state);
    expect(infer).toMatchObject({ id: 'infer', name: 'infer' });
    expect(infer?.args['prompt']).toContain('The player stole a necklace.');
    for (const ended of [turns.ended, turns.failed, turns.expired])
      expect(statusOf(agentTurn, ended.state)).toMatchObject({ effect: null, due: null });
  });

  it('shows the engine the memories with their ages, the newest last [13.3e]', () => {
    const [one] = inputs.memories.memories;
    const memories = [
      { ...one, text: 'The best.', storedAt: '2025-12-31T23:00:00.000Z', similarity: 0.9 },
      { ...one, text: 'The oldest.', storedAt: '2025-01-01T00:00:00.000Z', similarity: 0.6 },
    ];
    const open = take(fresh, inputs.open).and;
    const asked = pendingEffect(agentTurn, take(open, { type: 'memories', memories }).and.state)?.args;
    expect(asked?.['prompt']).toContain('- a year ago: "The oldest."\n- an hour ago: "The best."');
  });

  it('notes each attempt without a text once, asks the engine three times, and then fails [6.7a, 6.7b]', () => {
    const noted = (turn: Turn) => turn.events.map(({ type, data }) => [type, data['attempt']]);
    const once = after('open', 'memories', 'missing');
    expect(pendingEffect(agentTurn, once.state)).toMatchObject({ id: 'infer-2', name: 'infer', args: { attempt: 2 } });
    expect(take(once, inputs.missing).events).toEqual([]);
    expect(noted(turns.failed).slice(-4)).toEqual([
      ['AnswerMissing', 1],
      ['AnswerMissing', 2],
      ['AnswerMissing', 3],
      ['TurnFailed', undefined],
    ]);
    expect(agentTurn.answer(turns.failed.state, undefined)).toMatchObject({
      state: 'failed',
      failure: { code: 'CORTEX_NO_ANSWER', reason: 'It answers without a text.' },
    });
    expect(take(once, inputs.output).and.state).toMatchObject({ name: 'ended' });
  });

  it('shortens a prompt that the engine refuses for its length, once [13.1e]', () => {
    const waiting = after('open', 'memories');
    const prompt = (turn: Turn) => pendingEffect(agentTurn, turn.state)?.args['prompt'] as string;
    const half = take(waiting, inputs.tooLong).and;
    expect(half.events.at(-1)).toMatchObject({
      type: 'PromptShortened',
      data: {
        ...{ turnId, budget: Math.floor(countTokens(prompt(waiting)) / 2), reason: 'It is too long.' },
        instruction: { type: 'ExecuteInference' },
      },
    });
    expect(pendingEffect(agentTurn, half.state)).toMatchObject({ id: 'infer-shortened', args: { shortened: true } });
    expect(prompt(waiting)).toContain('The player stole a necklace.');
    expect(prompt(half)).not.toContain('The player stole a necklace.');
    // The same refusal, reported again, changes nothing; one of the shorter prompt ends as a missing answer does.
    expect(take(half, inputs.tooLong).events).toEqual([]);
    const again = take(half, { ...inputs.tooLong, shortened: true });
    expect(again.events).toMatchObject([{ type: 'AnswerMissing', data: { attempt: 1, reason: 'It is too long.' } }]);
    expect(pendingEffect(agentTurn, again.and.state)).toMatchObject({ id: 'infer-2-shortened', args: { attempt: 2 } });
    expect(take(half, inputs.output).and.state).toMatchObject({ name: 'ended' });
  });

  it('takes the budget that the refusal names if it is smaller than the prompt [13.1e]', () => {
    const budget = (said: number) =>
      take(after('open', 'memories'), { ...inputs.tooLong, budget: said }).events?.[0]?.data['budget'];
    expect(budget(100)).toBe(100);
    expect(budget(100_000)).toBe(budget(200_000));
    expect(budget(100_000)).toBeLessThan(200);
  });

  it('has no shorter prompt where nothing can be left out, and in turns without a time [13.1e]', () => {
    const noted = (turn: Turn, known = facts) =>
      turn.when(inTable(agentTurn), inputs.tooLong, known).events?.map(({ type }) => type);
    const nobody = { ...facts, mind: { ...facts.mind, persona: null, data: null } };
    const bare = after('open').when(inTable(agentTurn), { type: 'memories', memories: [] }, nobody).and;
    expect(noted(bare, nobody)).toEqual(['AnswerMissing']);
    const { promptAt: _, ...older } = inputs.open;
    expect(noted(take(take(fresh, older).and, inputs.memories).and)).toEqual(['AnswerMissing']);
  });

  it('records that no body plays it, and which engine answered [7.1i]', () => {
    const [, opened, recalled, reached] = turns.ended.events.map(({ data }) => data);
    expect(opened).toMatchObject({ agent: true, instruction: { type: 'QueryVector' } });
    expect(recalled).toMatchObject({ memories: [{ memoryId: 'm1', revision: 3 }] });
    expect(reached).toMatchObject({ cortexId: 'scripted', generatedOutput: 'It was you.', kid: 'kid' });
  });

  it('answers with the current state, and with the verdict after its end', () => {
    const answerIn = (turn: Turn) => agentTurn.answer(turn.state, undefined);
    expect(answerIn(turns.new)).toBeUndefined();
    expect(answerIn(turns.awaitingMemories)).toMatchObject({ turnId, state: 'awaitingMemories', memories: [] });
    expect(answerIn(turns.awaitingInference)).toMatchObject({
      turnId,
      state: 'awaitingInference',
      memories: [{ memoryId: 'm1' }],
    });
    expect(answerIn(turns.awaitingInference)).not.toHaveProperty('verdict');
    expect(answerIn(turns.ended)).toMatchObject({ state: 'ended', verdict: { valid: true, dialogue: 'It was you.' } });
  });
});
