import { expect, it } from 'vitest';

import { sinceArrival } from '../../../../src/features/souls/domain/since-arrival.js';

const data = { mood: 'loyal', quests: { well: 1, gate: { open: true } }, inventory: ['key', 'ring'], list: [1] };

it('leaves what a mind got after its soul arrived [8.10i]', () => {
  const now = { ...data, quests: { well: 2, gate: { open: true } }, inventory: ['key', 'rope'], hp: 3, list: 1 };
  expect(sinceArrival({ persona: 'Old.', data: now, facts: { war: true } }, { persona: 'Old.', data })).toEqual({
    persona: null,
    data: { quests: { well: 2 }, inventory: ['rope'], hp: 3, list: 1 },
    facts: { war: true },
  });
  expect(sinceArrival({ persona: 'New.', data, facts: null }, { persona: 'Old.', data })).toEqual({
    persona: 'New.',
    data: {},
    facts: null,
  });
});

it('is everything for a mind that began here', () => {
  const held = { persona: 'Old.', data, facts: { constructor: 1 } };
  expect(sinceArrival(held, {})).toEqual(held);
});
