import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { AttemptFailed } from '../../../src/adapters/cortex/attempt-failed.js';
import { readAnswer } from '../../../src/adapters/cortex/read-answer.js';
import answers from '../../fixtures/model-answers.json' with { type: 'json' };

type Expected = { readonly text?: string; readonly reasoning?: string; readonly reason?: string };

describe('the response of a model server', () => {
  it.each(answers as readonly (Expected & { readonly what: string; readonly body: unknown })[])(
    'is read or refused: $what [6.5a, 6.5b, 6.5c, 6.5d]',
    ({ body, text, reasoning, reason }) => {
      const read = (): unknown => readAnswer(typeof body === 'string' ? body : JSON.stringify(body));
      if (reason === undefined) {
        const answer = readAnswer(typeof body === 'string' ? body : JSON.stringify(body));
        expect({ text: answer.text, reasoning: answer.reasoning }).toEqual({ text, reasoning });
      } else expect(read).toThrow(expect.objectContaining({ status: 200, reason }));
    },
  );

  it('is read or refused, whatever it is', () => {
    const value = fc.oneof(fc.jsonValue(), fc.string(), fc.constant(null));
    const message = fc.record(
      { content: value, reasoning: value, tool_calls: value, function_call: value, refusal: value },
      { requiredKeys: [] },
    );
    const choice = fc.record(
      { message, delta: message, finish_reason: value, error: value, text: value },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc
        .record({ choices: fc.array(choice), error: value, usage: value }, { requiredKeys: [] })
        .map((one) => JSON.stringify(one)),
      fc.array(choice).map((all) => all.map((one) => `data: ${JSON.stringify({ choices: [one] })}`).join('\n\n')),
    );
    fc.assert(
      fc.property(body, (text) => {
        try {
          expect(readAnswer(text).text.trim()).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(AttemptFailed);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
