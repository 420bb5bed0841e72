import { describe, expect, it } from 'vitest';

import {
  CONVERSATION_BYTES,
  exchangeOf,
  fittingExchanges,
  unbroken,
} from '../../../../src/features/turns/domain/conversation.js';
import type { Verdict } from '../../../../src/features/npcs/domain/events.js';
import { jsonBytes } from '../../../../src/kernel/base/json.js';

const verdict = (members: Partial<Verdict> = {}): Verdict => ({
  valid: true,
  dialogue: 'By the well.',
  action: { type: 'SPEAK', target: '' },
  stateDelta: { mood: 'calm' },
  memoryStore: [],
  ...members,
});

describe('an exchange', () => {
  it('is the observation and the verdict [13.4e]', () => {
    expect(exchangeOf('t1', 'Where is it?', verdict())).toEqual({
      turnId: 't1',
      heard: 'Where is it?',
      answered: { dialogue: 'By the well.', action: { type: 'SPEAK', target: '' }, stateDelta: { mood: 'calm' } },
    });
  });

  it('of a refused verdict is what the player heard [13.4e]', () => {
    const refused = verdict({ valid: false, dialogue: 'Not for sale.', action: null, stateDelta: {} });
    expect(exchangeOf('t1', 'Sell it!', refused).answered).toEqual({ dialogue: 'Not for sale.' });
  });

  it('is bounded, whatever it contains [13.4e]', () => {
    const long = '"\\\u0001€😀'.repeat(5_000);
    const action = { type: 'T'.repeat(900), target: long, payload: { long } };
    const exchange = exchangeOf('t1', long, verdict({ dialogue: long, action, stateDelta: { long } }));
    expect(jsonBytes(exchange)).toBeLessThan(9_000);
    expect(exchange.answered).toMatchObject({ stateDelta: {} });
    expect(Object.keys(exchange.answered['action'] as object)).toEqual(['type', 'target']);
    expect(exchange.heard.isWellFormed()).toBe(true);
  });
});

describe('a conversation', () => {
  const at = (beganMs: number) => ({ beganMs, endedMs: beganMs + 1_000 });
  const limits = { exchanges: 3, pauseMs: 60_000 };

  it('ends with a pause [13.4b]', () => {
    const turns = [at(200_000), at(150_000), at(50_000)];
    expect(unbroken(turns, 261_000, limits)).toEqual(turns.slice(0, 2));
    expect(unbroken(turns, 261_001, limits)).toEqual([]);
    expect(unbroken(turns.slice(1), 151_000, { ...limits, pauseMs: 100_000 })).toEqual(turns.slice(1));
  });

  it('has at most so many exchanges [13.4a]', () => {
    const turns = [5, 4, 3, 2, 1].map((n) => at(n * 2_000));
    expect(unbroken(turns, 12_000, limits)).toEqual(turns.slice(0, 3));
    expect(unbroken(turns, 12_000, { ...limits, exchanges: 0 })).toEqual([]);
  });

  it('keeps the newest that fit, oldest first [13.4a]', () => {
    const exchanges = Array.from({ length: 12 }, (_, n) => exchangeOf(String(n), 'x'.repeat(4_000), verdict()));
    const kept = fittingExchanges(exchanges);
    expect(kept.map(({ turnId }) => turnId)).toEqual(['4', '3', '2', '1', '0']);
    expect(jsonBytes(kept)).toBeLessThanOrEqual(CONVERSATION_BYTES + kept.length + 1);
  });
});
