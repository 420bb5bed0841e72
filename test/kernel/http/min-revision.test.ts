import { describe, expect, it } from 'vitest';

import { minRevision } from '../../../src/kernel/http/min-revision.js';
import type { Call } from '../../../src/kernel/http/route.js';
import { rulesetWarning } from '../../../src/kernel/http/warning.js';

const callWith = (value: string | undefined): Call =>
  ({ header: (name: string) => (name === 'anima-min-revision' ? value : undefined) }) as Call;

describe('the revision that a read must have seen', () => {
  it.each([
    [undefined, undefined],
    ['0', 0],
    ['41', 41],
    ['007', 7],
    ['999999999999999', 999_999_999_999_999],
  ])('in the header %j is %j', (header, revision) => {
    expect(minRevision(callWith(header))).toBe(revision);
  });

  it.each(['', '-1', '1.5', '1e3', 'latest', ' 1', '٣', '1000000000000000'])(
    'is refused in the header %j',
    (header) => {
      expect(() => minRevision(callWith(header))).toThrow(
        expect.objectContaining({ code: 'HEADER_INVALID', details: { header: 'Anima-Min-Revision' } }),
      );
    },
  );
});

describe('the headers of a response', () => {
  it('warn of a missing or ignored ruleset, with its id escaped so that it stays one header', () => {
    expect(rulesetWarning(undefined, undefined)).toEqual({});
    expect(rulesetWarning(undefined, 'inn')).toEqual({ 'Anima-Warning': 'ruleset-ignored; rulesetId="inn"' });
    expect(rulesetWarning('inn "1"\r\nX: ü', 'inn')).toEqual({
      'Anima-Warning': 'ruleset-missing; rulesetId="inn%20%221%22%0D%0AX%3A%20%C3%BC"',
    });
  });
});
