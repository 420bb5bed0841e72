import { describe, expect, it } from 'vitest';

import { statuses } from '../../../src/kernel/http/statuses.js';

describe('the status of a refusal', () => {
  it('is one of the reference, and 410 only for an expired exchange of a soul [1.5c]', () => {
    const all = [400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 429, 500, 503];
    expect([...new Set(Object.values(statuses))].sort((one, other) => one - other)).toEqual(all);
    const codesOf = (status: number) =>
      Object.entries(statuses).flatMap(([code, its]) => (its === status ? [code] : []));
    expect([401, 403, 405, 410, 412, 415, 500].map(codesOf)).toEqual([
      ['UNAUTHORIZED'],
      ['FORBIDDEN', 'PLAYER_MISMATCH'],
      ['METHOD_NOT_ALLOWED'],
      ['SOUL_EXCHANGE_EXPIRED'],
      ['PRECONDITION_FAILED'],
      ['UNSUPPORTED_MEDIA_TYPE'],
      ['INTERNAL'],
    ]);
    for (const code of codesOf(404)) expect(code).toMatch(/(^|_)NOT_FOUND$/);
  });

  it.each([
    [413, ['DATA_TOO_LARGE', 'EVENTS_TOO_LARGE']],
    [422, ['TEMPLATE_INVALID', 'PATTERN_INVALID', 'RULE_ID_REPEATED', 'RULESET_TOO_LARGE']],
    [
      503,
      ['LOGIC_UNKNOWN', 'EVENT_VERSION_UNKNOWN', 'DATABASE_UNAVAILABLE', 'ENGINE_UNAVAILABLE', 'STORE_UNAVAILABLE'],
    ],
  ] as const)('is %i: %s [1.5c, 10.8b]', (status, codes) => {
    expect(codes.map((code) => statuses[code])).toEqual(codes.map(() => status));
  });
});
