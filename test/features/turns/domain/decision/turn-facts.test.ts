import { TEXT_RULES } from '../../../../../src/features/turns/domain/decision/text-rules.js';
import { describe, expect, it } from 'vitest';

import {
  effectiveInput,
  type TurnRequest,
  type TurnFacts,
} from '../../../../../src/features/turns/domain/decision/turn-facts.js';

const facts: TurnFacts = {
  npcId: 'mira',
  mind: { persona: 'Calm.', data: { hp: 3, mood: { fear: 1 } }, facts: { hp: 9, war: true }, revision: 4 },
  ruleset: null,
  rulesetRef: null,
  issuer: { kid: 'key-1', iss: 'http://test' },
};
const newborn: TurnFacts = { ...facts, mind: { persona: null, data: null, facts: {}, revision: -1 } };
const actor = { npcId: 'mira', persona: 'An innkeeper.', data: { mana: 9 } };
const asked: TurnRequest = { observation: 'Rain.', npcState: {} };

describe('the effective input of a decision', () => {
  it.each<[title: string, facts: TurnFacts, asked: Partial<TurnRequest>, persona: string | null, npcState: object]>([
    ['is the mind as recorded', facts, {}, 'Calm.', { hp: 3, mood: { fear: 1 } }],
    [
      "has the tape's state laid over the recorded one",
      facts,
      { npcState: { hp: 1, mood: { fear: null, joy: 1 } } },
      'Calm.',
      { hp: 1, mood: { joy: 1 } },
    ],
    ["prefers the tape's persona", facts, { persona: 'Bold.', actor }, 'Bold.', { hp: 3, mood: { fear: 1 } }],
    ['ignores the actor for a known mind', facts, { actor }, 'Calm.', { hp: 3, mood: { fear: 1 } }],
    ['uses the actor for an unknown mind', newborn, { actor }, 'An innkeeper.', { mana: 9 }],
    [
      'never has facts from the tape [5.9i]',
      facts,
      { npcState: { facts: { war: false } }, context: { facts: { war: false } } },
      'Calm.',
      { hp: 3, mood: { fear: 1 }, facts: { war: false } },
    ],
    ['is empty without any input', newborn, {}, null, {}],
  ])('%s [2.1i]', (_, known, members, persona, npcState) => {
    expect(effectiveInput(known, { ...asked, ...members }, TEXT_RULES)).toEqual({
      npcId: 'mira',
      conversation: [],
      data: expect.any(Object),
      facts: known.mind.facts,
      observation: 'Rain.',
      context: members.context ?? {},
      npcState,
      persona,
      memories: [],
      ruleset: null,
      patternsHeld: [],
      texts: TEXT_RULES,
    });
  });
});
