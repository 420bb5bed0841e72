import { describe, expect, it } from 'vitest';

import { noOpenTurns } from '../../../../src/features/npcs/domain/open-turns.js';
import { savedMind } from '../../../../src/features/npcs/domain/saved-mind.js';
import type { MindState } from '../../../../src/features/npcs/domain/state.js';
import { noMemories } from '../../../../src/features/npcs/domain/stored-memories.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';

const mind: MindState = {
  persona: 'An innkeeper.',
  data: { hp: 4, inventory: ['ledger'] },
  facts: { weather: 'storm' },
  players: 'shared',
  archived: true,
  rulesetId: 'inn',
  origin: { importId: 'i1', stored: 2, arrivedAt: 3 },
  changedAt: 6,
  revision: 7,
  updatedAt: '2026-01-01T00:00:00.000Z',
  openTurns: { list: ['t1'], changes: [{ turnId: 't2', open: true }] },
  memories: {
    count: 300,
    retracted: 3,
    clearedAt: 2,
    retractedAt: 4,
    confirmedAt: 5,
    list: ['+kG3WfXeWgfGLN9aFzwJ4sA 3 mjugqv40 2 t1-0'],
    changes: [{ stored: '-kG3WfXeWgfGLN9aFzwJ4sB 4 mjugqv40 0 m1' }, { confirmed: 'm1' }],
  },
  card: { digest: 'kG3WfXeWgfGLN9aFzwJ4sA', revision: 5 },
};
const json = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

describe('a saved mind', () => {
  it.each<[string, MindState]>([
    ['with everything', mind],
    [
      'with neither persona, data nor facts, open turns nor memories nor card',
      {
        ...mind,
        persona: null,
        data: null,
        facts: null,
        origin: null,
        openTurns: noOpenTurns,
        memories: noMemories,
        card: null,
      },
    ],
  ])('%s is restored unchanged', (_, state) => {
    expect(savedMind(json(state), 7)).toEqual(state);
  });

  it('excludes members that do not belong to a mind', () => {
    expect(savedMind({ ...json(mind), other: 1 }, 7)).toEqual(mind);
  });

  it.each<[string, Json]>([
    ...[null, 7, 'text', [], [json(mind)], {}].map((none) => [JSON.stringify(none), none] as [string, Json]),
    ...Object.keys(mind).map((name): [string, Json] => {
      const { [name]: _left, ...rest } = json(mind);
      return [`one without ${name}`, rest];
    }),
    ...Object.keys(mind).map((name): [string, Json] => [`one with another ${name}`, { ...json(mind), [name]: [] }]),
    ['one of another revision', { ...json(mind), revision: 8 }],
    ['one with invalid open turns', { ...json(mind), openTurns: { list: [7], changes: [] } }],
    ['one with invalid changes', { ...json(mind), openTurns: { list: [], changes: [{ turnId: 't' }] } }],
    ['one with a change without a turn', { ...json(mind), openTurns: { list: [], changes: [{ open: true }] } }],
    ['one with an invalid memory', { ...json(mind), memories: { ...mind.memories, list: ['m1'] } }],
    ['one with a card without an event', { ...json(mind), card: { digest: 'd' } }],
    ['one without a count of memories', { ...json(mind), memories: { ...mind.memories, count: null } }],
    ['one with a change without a memory', { ...json(mind), memories: { ...mind.memories, changes: [{}] } }],
    [
      'one that stored an invalid memory',
      { ...json(mind), memories: { ...mind.memories, changes: [{ stored: 'm1' }] } },
    ],
  ])('is not %s', (_, none) => {
    expect(savedMind(none, 7)).toBeNull();
  });
});
