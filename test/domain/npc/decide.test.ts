import { describe, expect, it } from 'vitest';

import { archiveNpc, registerNpc, type Registration } from '../../../src/domain/npc/decide.js';
import { initialMind, type MindState } from '../../../src/domain/npc/state.js';

const mind: MindState = {
  ...initialMind,
  persona: 'Calm.',
  data: { hp: 3, mood: { fear: 0 } },
  revision: 4,
};
const archived: MindState = { ...mind, archived: true };
const withoutData: MindState = { ...mind, persona: null, data: null };

describe('registering a mind', () => {
  it.each<[given: string, mind: MindState, asked: Registration, recorded: unknown]>([
    ['a new one', initialMind, { persona: 'Calm.', data: {} }, ['NpcRegistered', { persona: 'Calm.', data: {} }]],
    ['a new one with nothing', initialMind, {}, ['NpcRegistered', {}]],
    ['another persona', mind, { persona: 'Bold.' }, ['NpcUpdated', { persona: 'Bold.' }]],
    ['an empty persona', mind, { persona: '' }, ['NpcUpdated', { persona: '' }]],
    ['data that replace whole', mind, { data: { hp: 3 } }, ['NpcUpdated', { data: { hp: 3 } }]],
    ['only what changes', mind, { persona: 'Calm.', data: {} }, ['NpcUpdated', { data: {} }]],
    ['empty data where there were none', withoutData, { data: {} }, ['NpcUpdated', { data: {} }]],
    ['nothing', mind, {}, null],
    ['what it is already, in another order', mind, { persona: 'Calm.', data: { mood: { fear: 0 }, hp: 3 } }, null],
    ['an archived one again', archived, {}, ['NpcUpdated', {}]],
    ['an archived one with a new persona', archived, { persona: 'Bold.' }, ['NpcUpdated', { persona: 'Bold.' }]],
  ])('%s', (_, state, asked, recorded) => {
    const [event, ...others] = registerNpc(state, asked);
    expect(event === undefined ? null : [event.type, event.data]).toEqual(recorded);
    expect(others).toEqual([]);
  });
});

describe('archiving a mind', () => {
  it('is recorded once, and not at all for one that never was', () => {
    expect(archiveNpc(mind)).toEqual([{ type: 'NpcArchived', data: {} }]);
    expect(archiveNpc(archived)).toEqual([]);
    expect(archiveNpc(initialMind)).toEqual([]);
  });
});
