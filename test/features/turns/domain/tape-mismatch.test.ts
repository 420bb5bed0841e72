import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { mismatches, type RecordedTape } from '../../../../src/features/turns/domain/tape-mismatch.js';
import type { Tape } from '../../../../src/features/turns/domain/tape.js';
import { jcs } from '../../../../src/kernel/base/json.js';
import { tapeOf } from '../../../support/minds.js';

const memory = (text: string, importance = 0.5) => ({ text, type: 'experience', importance, similarity: 0.5 });
const actor = (npcId: string) => ({ npcId, persona: null, data: {} });
const recorded: RecordedTape = {
  observation: 'A stranger asks for a room.',
  context: { at: 'inn' },
  npcState: { hp: 10 },
  actor: { npcId: 'mira' },
  memories: [memory('He left without paying.')],
  generatedOutput: 'Three coins.',
};
const agreeing: Partial<Tape> = {
  context: { at: 'inn' },
  npcState: { hp: 10 },
  actor: actor('mira'),
  memories: [memory('He left without paying.')],
  vectorQueried: true,
  generatedOutput: 'Three coins.',
};
const against = (members: Partial<Tape>, of: RecordedTape = recorded) =>
  mismatches(of, tapeOf({ ...agreeing, ...members }), null);

describe('a tape contradicts the record', () => {
  it.each<[member: string, members: Partial<Tape>, recorded: unknown, received: unknown]>([
    ['observation', { observation: 'Rain.' }, 'A stranger asks for a room.', 'Rain.'],
    ['context', { context: {} }, { at: 'inn' }, {}],
    ['npcState', { npcState: { hp: 11 } }, { hp: 10 }, { hp: 11 }],
    ['actor.npcId', { actor: actor('otto') }, 'mira', 'otto'],
    ['memories', { memories: [] }, ['He left without paying.'], []],
    ['generatedOutput', { generatedOutput: 'Four.' }, 'Three coins.', 'Four.'],
  ])('in its %s [2.6o]', (member, members, was, is) => {
    expect(against(members)).toEqual([{ member, recorded: was, received: is }]);
  });

  it('in several members at a time, each noted', () => {
    const found = against({ observation: 'Rain.', generatedOutput: 'Four.' });
    expect(found.map(({ member }) => member)).toEqual(['observation', 'generatedOutput']);
  });

  it('in a long text, noted by its digest so that it cannot fill the history', () => {
    const long = 'x'.repeat(2_000);
    const text = jcs(long);
    expect(against({ observation: long })).toEqual([
      {
        member: 'observation',
        recorded: recorded.observation,
        received: { sha256: createHash('sha256').update(text).digest('hex'), characters: text.length },
      },
    ]);
  });
});

describe('a tape does not contradict the record', () => {
  it.each<[why: string, members: Partial<Tape>]>([
    ['when it is the same', {}],
    ['when it claims no memories', { vectorQueried: false, memories: [memory('Something else.')] }],
    ['when its output is empty', { generatedOutput: '' }],
    ['when its memories differ in anything but their texts', { memories: [memory('He left without paying.', 0.9)] }],
    ["when its actor's persona or data differ", { actor: { npcId: 'mira', persona: 'Else.', data: { hp: 1 } } }],
    ['in members that are never compared', { extra: { constraints: { maxTokens: 9 } }, persona: 'Else.' }],
    ['in empty members', { npcState: { hp: 10, mood: null, items: [] } }],
  ])('%s [2.6p]', (_, members) => {
    expect(against(members)).toEqual([]);
  });

  it('when it omits recorded members', () => {
    const { observation, context, npcState } = recorded;
    expect(mismatches(recorded, tapeOf({ observation, context, npcState }), null)).toEqual([]);
  });

  it('when it contains results that are not recorded yet', () => {
    const { observation, context, npcState } = recorded;
    expect(against({ actor: actor('otto'), generatedOutput: 'Four.' }, { observation, context, npcState })).toEqual([]);
  });

  it('unless its actor is not the NPC of the turn and the record has none yet [2.6o]', () => {
    const begun = { observation: 'o', context: {}, npcState: {} };
    const tape = (npcId: string) => tapeOf({ ...begun, actor: { npcId, persona: null, data: {} } });
    expect(mismatches(begun, tape('mira'), 'mira')).toEqual([]);
    expect(mismatches(begun, tapeOf(begun), 'mira')).toEqual([]);
    expect(mismatches(begun, tape('tom'), null)).toEqual([]);
    expect(mismatches(begun, tape('tom'), 'mira')).toEqual([
      { member: 'actor.npcId', recorded: 'mira', received: 'tom' },
    ]);
  });
});
