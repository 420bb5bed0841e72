import { describe, expect, it } from 'vitest';

import { statuses } from '../../../src/kernel/http/statuses.js';

describe('the status of a refusal', () => {
  it.each([
    [413, ['DATA_TOO_LARGE', 'EVENTS_TOO_LARGE']],
    [422, ['TEMPLATE_INVALID', 'PATTERN_INVALID', 'RULE_ID_REPEATED', 'RULESET_TOO_LARGE']],
    [
      503,
      ['LOGIC_UNKNOWN', 'EVENT_VERSION_UNKNOWN', 'DATABASE_UNAVAILABLE', 'ENGINE_UNAVAILABLE', 'STORE_UNAVAILABLE'],
    ],
  ] as const)('is %i: %s [1.5c]', (status, codes) => {
    expect(codes.map((code) => statuses[code])).toEqual(codes.map(() => status));
  });
});
