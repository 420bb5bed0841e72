import { expect, it } from 'vitest';

import { requireTellable } from '../../activities/process-activities.js';
import { EVENT_BYTES } from '../../src/adapters/shared/append-rules.js';
import { FACT_BYTES } from '../../workflows/process-limits.js';

it('takes no fact that is larger than what an event holds, in bytes and all inputs together', () => {
  const told = (text: string) => ({ type: 'told', text });
  const overhead = JSON.stringify([told('')]).length;
  expect(FACT_BYTES).toBeLessThan(EVENT_BYTES);
  expect(() => requireTellable([told('x'.repeat(FACT_BYTES - overhead))])).not.toThrow();
  const tooLarge = [
    [told('x'.repeat(FACT_BYTES - overhead + 1))],
    [told('é'.repeat(FACT_BYTES / 2))],
    [told('x'.repeat(FACT_BYTES / 2)), told('x'.repeat(FACT_BYTES / 2))],
  ];
  for (const inputs of tooLarge) {
    expect(() => requireTellable(inputs)).toThrow(expect.objectContaining({ code: 'EVENTS_TOO_LARGE' }));
  }
});
