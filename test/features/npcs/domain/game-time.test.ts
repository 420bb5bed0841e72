import { describe, expect, it } from 'vitest';

import { gameTimeIn, gameTimeOf } from '../../../../src/features/npcs/domain/game-time.js';

describe('the time of the game', () => {
  it.each([0, -5, 86_400.5, '0412-06-01T20:00:00Z', '2026-03-02 12:00:00.25+01:00'])('is %j [13.3b]', (time) => {
    expect(gameTimeIn({ time })).toBe(time);
  });

  it.each([undefined, null, true, 'evening', '12:30', '2026-03-02', '2026-13-40T99:00:00Z', { hour: 3 }, Infinity])(
    'is not %j [13.3b]',
    (time) => {
      expect(gameTimeIn({ ...(time === undefined ? {} : { time }) })).toBeUndefined();
    },
  );

  it('is not recorded with knowledge [13.3d]', () => {
    expect(gameTimeOf('observation', { time: 7 })).toBe(7);
    expect(gameTimeOf('knowledge', { time: 7 })).toBeUndefined();
    expect(gameTimeOf('observation', null)).toBeUndefined();
  });
});
