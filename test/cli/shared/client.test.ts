import { describe, expect, it } from 'vitest';

import { MindError } from '../../../src/body/mind-request.js';
import { describeFailure } from '../../../src/cli/shared/client.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';

type Code = ConstructorParameters<typeof Rejection>[0];

/** What a terminal shows of a refusal with the server's own words. */
const shown = (code: Code, details: MindError['details']): string | null =>
  describeFailure(new MindError(code, new Rejection(code).message, { status: 409, details }), 'http://here');

describe('a refused request', () => {
  it('names the broken event instead of a member of the answer', () => {
    expect(shown('CHAIN_BROKEN', { npcId: 'mira', revision: 12 })).toMatch(/^The stored event at revision 12 is not /);
    expect(shown('CHAIN_BROKEN', { stream: 'rulesets-local', revision: 3 })).toMatch(
      /^The stored event at revision 3 of rulesets-local is not /,
    );
  });

  it.each(['LOG_CHANGED', 'SOUL_INVALID'] as const)('says the reason of %s', (code) => {
    const text = shown(code, { reason: 'It was cut.' });
    expect(text).toContain('It was cut.');
    expect(text).not.toContain('details.');
  });
});
