import { describe, expect, it } from 'vitest';

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
  new: { open: 'awaitingMemories TurnOpened', memories: 'new', output: 'new', missing: 'new', deadline: 'new' },
  awaitingMemories: {
    open: 'awaitingMemories',
    memories: 'awaitingInference MemoriesRecalled',
    output: 'awaitingMemories',
    missing: 'awaitingMemories',
    deadline: 'expired TurnExpired',
  },
  awaitingInference: {
    open: 'awaitingInference',
    memories: 'awaitingInference',
    output: 'ended VerdictReached MemoryStored',
    missing: 'awaitingInference AnswerMissing',
    deadline: 'expired TurnExpired',
  },
  ended: { open: 'ended', memories: 'ended', output: 'ended', missing: 'ended', deadline: 'ended' },
  failed: { open: 'failed', memories: 'failed', output: 'failed', missing: 'failed', deadline: 'failed' },
  expired: { open: 'expired', memories: 'expired', output: 'expired', missing: 'expired', deadline: 'expired' },
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
