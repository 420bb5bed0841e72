import { describe, expect, it } from 'vitest';

import { ifMatch } from '../../../src/kernel/http/if-match.js';

const tagsIn = (value: string | undefined) => ifMatch({ header: (name) => (name === 'if-match' ? value : undefined) });

describe('the tags that a request expects', () => {
  it.each([
    [undefined, null],
    ['*', null],
    ['"16"', ['"16"']],
    ['"16", "17" ,W/"18"', ['"16"', '"17"', 'W/"18"']],
    ['"a,b","","\u00e9"', ['"a,b"', '""', '"\u00e9"']],
    [', "16",, ', ['"16"']],
  ])('in the header %j are %j [2.1o]', (header, tags) => {
    expect(tagsIn(header)).toEqual(tags);
  });

  it.each(['', ' ', ',', '16', "'16'", '"16', '16"', '"1 6"', '"16" "17"', '"16" 17', 'w/"16"', '*, "16"', '**'])(
    'are refused in the header %j [2.1o]',
    (header) => {
      expect(() => tagsIn(header)).toThrow(
        expect.objectContaining({ code: 'HEADER_INVALID', details: { header: 'If-Match' } }),
      );
    },
  );

  it('are found in time that grows with the header', () => {
    const startedMs = performance.now();
    for (const part of [' ', ',', ', ', '"', '""', '"",', 'W/""', '"" ,'])
      expect(() => tagsIn(`"16"${part.repeat(16_000 / part.length)}x`)).toThrow();
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});
