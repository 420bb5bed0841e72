import { differing, type Input, members, memories, post, type Send } from './input.js';

const afterActor = async (npcId: string, send: Send): Promise<object> => {
  const path = `/npcs/${npcId}/process`;
  const { tape } = (await send(post(path, { tape: { observation: 'Well?' } }))) as { tape: object };
  const lastResult = { type: 'IdentifyActorResult', actor: { npcId, persona: 'An innkeeper.', data: {} } };
  return ((await send(post(path, { tape, lastResult }))) as { tape: object }).tape;
};

const opened = async (npcId: string, tape: object) => post(`/npcs/${npcId}/process`, { tape });

/** Steps and requests of a mind: the maximum number of values, of bytes, and the characters that cost the most. */
export const stepInputs: Readonly<Record<string, Input>> = {
  'a step, 9,900 members of npcState': (npcId) => opened(npcId, { observation: 'Well?', npcState: members(9_900) }),
  'a step, 9,900 members of context': (npcId) => opened(npcId, { observation: 'Well?', context: members(9_900) }),
  'a fat step, 9,900 members of context': (npcId) =>
    opened(npcId, { observation: 'Well?', context: members(9_900), actor: { npcId, persona: 'x', data: {} } }),
  'a step, 500 kB of distinct words': (npcId) => opened(npcId, { observation: differing(500_000) }),
  'a step, 170,000 characters that expand eighteenfold': (npcId) => opened(npcId, { observation: 'ﷺ'.repeat(170_000) }),
  'a step, 990 memories of 460 bytes': async (npcId, send) =>
    post(`/npcs/${npcId}/process`, {
      tape: await afterActor(npcId, send),
      lastResult: { type: 'QueryVectorResult', memories },
    }),
  'a directive, 9,900 members': async (npcId) =>
    post(`/npcs/${npcId}/directive`, { observation: 'Well?', npcState: members(9_900) }),
  'a context, 990 memories of 460 bytes': async (npcId) =>
    post(`/npcs/${npcId}/context`, { observation: 'Well?', memories }),
  'a verdict on 500,000 braces': async (npcId) =>
    post(`/npcs/${npcId}/verdict`, { observation: 'Well?', generatedOutput: '{'.repeat(500_000) }),
  'an agent’s turn, 9,900 members of context': async (npcId) =>
    post(`/v1/agents/${npcId}/process`, { input: 'Well?', context: members(9_900) }),
  'an agent’s turn, 90,000 characters of distinct words': async (npcId) =>
    post(`/v1/agents/${npcId}/process`, { input: differing(90_000) }),
  'an agent’s turn, 500 kB of distinct words': async (npcId) =>
    post(`/v1/agents/${npcId}/process`, { input: differing(500_000) }),
  'a check of an action of 500 kB': async (npcId, send) => {
    await send(post('/npcs', { npcId }));
    const action = { type: 'MOVE', target: 'gate', payload: members(4_900) };
    return post(`/bridge/validate/${npcId}`, { action, context: { worldState: { entities: differing(300_000) } } });
  },
};
