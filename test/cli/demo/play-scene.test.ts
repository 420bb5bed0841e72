import { describe, expect, it } from 'vitest';

import type { TurnPlayed } from '../../../src/body/play-turn.js';
import type { Finalize } from '../../../src/body/protocol.js';
import { surpriseIn } from '../../../src/cli/demo/play-scene.js';
import type { SceneLine } from '../../../src/cli/demo/scene/types.js';

const spoken: SceneLine = { to: 'odo', says: 'Wake up!', context: {}, model: 'Never.' };
const refused: SceneLine = {
  ...spoken,
  refused: { code: 'RULE_REFUSED', rule: 'asleep', because: 'he sleeps' },
};

const ending = (instruction: Partial<Finalize>, requests = 4): TurnPlayed => ({
  instruction: {
    type: 'Finalize',
    valid: true,
    signature: null,
    memoryStore: [],
    stateTransform: {},
    action: null,
    dialogue: '',
    ...instruction,
  },
  tape: { observation: '' },
  requests,
});

describe('a played line', () => {
  it('is as expected when it ends as written', () => {
    expect(surpriseIn(spoken, ending({}))).toBeNull();
    const asleep = { valid: false, code: 'RULE_REFUSED', details: { drRuleId: 'asleep' } };
    expect(surpriseIn(refused, ending(asleep))).toBeNull();
  });

  it.each([
    [spoken, ending({}, 5), 'the turn took 5 requests instead of 4'],
    [spoken, ending({ valid: false, code: 'SPEECH_EMPTY' }), /refused \(SPEECH_EMPTY\)/],
    [refused, ending({}), 'it was accepted, although he sleeps'],
    [refused, ending({ valid: false, code: 'HP_DEPLETED' }), /HP_DEPLETED instead of RULE_REFUSED/],
    [refused, ending({ valid: false }), /no code instead of RULE_REFUSED/],
    [
      refused,
      ending({ valid: false, code: 'RULE_REFUSED', details: { drRuleId: 'hurt' } }),
      /by rule hurt instead of rule asleep/,
    ],
    [refused, ending({ valid: false, code: 'RULE_REFUSED' }), /by no rule instead of rule asleep/],
  ])('is reported when it ends differently: $2', (line, end, words) => {
    expect(surpriseIn(line, end)).toMatch(words);
  });
});
