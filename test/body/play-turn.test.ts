import { describe, expect, it } from 'vitest';
import { createWordMemory } from '../../src/body/memory.js';
import { createMindClient, type MindClient } from '../../src/body/mind-client.js';
import { playTurn, TurnError, type BodyMode, type TurnToPlay } from '../../src/body/play-turn.js';
import type { StepRequest } from '../../src/body/protocol.js';
import { createScriptedInference } from '../../src/body/scripted-inference.js';
import { createFakeMind, type FakeDecide } from '../support/fake-mind.js';

const agree: FakeDecide = ({ text, tape }) => ({
  valid: true,
  signature: 'signed',
  dialogue: text,
  action: { type: 'SPEAK', target: '' },
  stateTransform: {},
  memoryStore: [{ text: tape.observation, type: 'observation', importance: 0.5 }],
});

const actor = { npcId: 'guard', persona: 'A guard.', data: { gate: 'shut' } };

const play = (mode: BodyMode, more: Partial<TurnToPlay> = {}, decide: FakeDecide = agree) => {
  const fake = createFakeMind(decide);
  const mind = createMindClient({ baseUrl: 'http://mind', fetch: fake.fetch });
  const memory = createWordMemory();
  const turn: TurnToPlay = {
    mind,
    npcId: 'guard',
    mode,
    tape: { observation: 'Is the gate open?', context: { hour: 21 } },
    actor: () => actor,
    memory,
    inference: createScriptedInference([{ when: 'gate', answers: ['It is shut.'] }]),
    ...more,
  };
  const steps = (): StepRequest[] => fake.requests.map(({ body }) => body as StepRequest);
  return { fake, memory, played: playTurn(turn), steps };
};

const ways: [BodyMode, 'returned' | 'own'][] = [
  ['thin', 'returned'],
  ['thin', 'own'],
  ['fat', 'returned'],
  ['fat', 'own'],
];

describe('the turn loop', () => {
  it.each(ways)('reaches Finalize in exactly four requests, %s with the tape %s [2.5a]', async (mode, tapes) => {
    const { played } = play(mode, { tapes });
    const { instruction, requests } = await played;
    expect(requests).toBe(4);
    expect(instruction).toMatchObject({ valid: true, dialogue: 'It is shut.' });
  });

  it('never changes a tape and reports each result as a thin client', async () => {
    const { played, steps } = play('thin', { tapes: 'own' });
    await played;
    const tape = { observation: 'Is the gate open?', context: { hour: 21 } };
    expect(steps()).toEqual([
      { tape },
      { tape, lastResult: { type: 'IdentifyActorResult', actor } },
      { tape, lastResult: { type: 'QueryVectorResult', memories: [] } },
      { tape, lastResult: { type: 'ExecuteInferenceResult', generatedOutput: 'It is shut.' } },
    ]);
  });

  it('writes actor, memories and text to the tape and never reports a result as a fat client', async () => {
    const { played, steps } = play('fat', { tapes: 'own' });
    await played;
    expect(steps().every((step) => step.lastResult === undefined)).toBe(true);
    expect(steps().at(-1)?.tape).toEqual({
      observation: 'Is the gate open?',
      context: { hour: 21 },
      actor,
      memories: [],
      vectorQueried: true,
      generatedOutput: 'It is shut.',
    });
  });

  it.each(['thin', 'fat'] as const)('ends a %s turn whose model returns no text', async (mode) => {
    const { played } = play(mode, { inference: createScriptedInference([], '') });
    expect((await played).requests).toBe(4);
  });

  it('stores the memory of a verdict in the body and recalls it in the next turn', async () => {
    const { fake, memory, played } = play('thin');
    await played;
    expect(await memory.recall('guard', { query: 'the gate', limit: 5, threshold: 0.5 })).toMatchObject([
      { text: 'Is the gate open?', type: 'observation', importance: 0.5 },
    ]);
    await playTurn({
      mind: createMindClient({ baseUrl: 'http://mind', fetch: fake.fetch }),
      npcId: 'guard',
      mode: 'thin',
      tape: { observation: 'When will the gate be open?' },
      actor: () => actor,
      memory,
      inference: createScriptedInference([]),
    });
    const reported = fake.requests
      .map(({ body }) => (body as StepRequest).lastResult)
      .filter((result) => result?.type === 'QueryVectorResult');
    expect(reported.at(-1)?.memories).toMatchObject([{ text: 'Is the gate open?' }]);
  });

  it('stores nothing for a refused verdict', async () => {
    const refuse: FakeDecide = () => ({
      valid: false,
      signature: null,
      dialogue: 'He may not.',
      action: null,
      stateTransform: {},
      memoryStore: [],
      code: 'RULE_REFUSED',
    });
    const { memory, played } = play('fat', {}, refuse);
    expect((await played).instruction).toMatchObject({ valid: false, code: 'RULE_REFUSED' });
    expect(await memory.recall('guard', { query: 'gate', limit: 5, threshold: 0 })).toEqual([]);
  });

  const stuck = (): { mind: Pick<MindClient, 'process'>; asked: () => number } => {
    let asked = 0;
    return {
      mind: {
        process: (_, { tape }) => {
          asked += 1;
          return Promise.resolve({ instruction: { type: 'IdentifyActor' }, tape });
        },
      },
      asked: () => asked,
    };
  };
  it.each([
    ['thin', 8],
    ['fat', 12],
  ] as const)('gives up as a %s client after %i requests', async (mode, bound) => {
    const { mind, asked } = stuck();
    await expect(play(mode, { mind }).played).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    expect(asked()).toBe(bound);
  });

  it('stops at an unknown instruction', async () => {
    const mind = {
      process: () => Promise.resolve({ instruction: { type: 'Dance' }, tape: { observation: '' } }),
    } as unknown as MindClient;
    await expect(play('thin', { mind }).played).rejects.toBeInstanceOf(TurnError);
  });

  it('passes on the failure of its model, and sends no further requests', async () => {
    const { played, fake } = play('thin', { inference: { complete: () => Promise.reject(new Error('no model')) } });
    await expect(played).rejects.toThrow('no model');
    expect(fake.requests).toHaveLength(3);
  });
});
