import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { OPENINGS } from '../../../src/kernel/model-text/marks-flood.js';
import { pullApart } from '../../../src/kernel/model-text/pull-apart.js';
import { withoutReasoning } from '../../../src/kernel/model-text/reasoning.js';
import { separateReasoning } from '../../../src/kernel/model-text/separate.js';
import { withoutToolCalls } from '../../../src/kernel/model-text/tool-calls.js';
import { untilEnd } from '../../../src/kernel/model-text/until-end.js';
import { WHOLE_LOOKS } from '../../../src/kernel/model-text/whole-answers.js';
import { readModelText } from '../../../src/features/turns/domain/decision/model-text.js';

const SECRET = 'I lit it';
const pairs = [
  ['<think>', '</think>'],
  ['<Thinking>', '</thinking>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|channel>thought', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
] as const;
const noise = fc.array(
  fc.oneof(
    fc.constantFrom(
      '{"dialogue":"',
      '"}',
      '{',
      '}',
      '"',
      "'",
      '\n',
      ' ',
      'Aye. ',
      '\\',
      '<',
      '[',
      '{"action":"ATTACK"}',
      '\ud83d',
    ),
    fc.string({ unit: 'binary', maxLength: 4 }),
  ),
  { maxLength: 12 },
);
const text = noise.map((parts) => parts.join(''));

describe('reasoning', () => {
  it.each(pairs)('between %s and %s is in no part of what is read, whatever is in it [2.8ae, 2.8af]', (open, close) => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        for (const written of [
          `${open}${before}${SECRET}${after}${close}Hi.`,
          `${before}${SECRET}${after}${close}Hi.`,
          `${open}${before}${SECRET}${after}`,
        ])
          expect(JSON.stringify(readModelText(written))).not.toContain(SECRET);
      }),
      { numRuns: 300 },
    );
  });

  it('of a text with more openings of tags than an answer can have is the entire text [2.8ai]', () => {
    const many = (count: number) => `${'<b>'.repeat(count)}Hi.`;
    expect(separateReasoning(many(OPENINGS)).text).toBe(many(OPENINGS));
    expect(separateReasoning(many(OPENINGS + 1))).toEqual({ text: '', reasoning: many(OPENINGS + 1) });
    expect(separateReasoning(`{"dialogue":"${'\\u003cb>'.repeat(OPENINGS + 1)}"}`).text).toBe('');
    expect(separateReasoning(`{"stateDelta":{"a":[${'[1],'.repeat(OPENINGS)}[1]]}}`).reasoning).toBe('');
  });

  it('is told apart once: what is left has none', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.constantFrom(...pairs.flat())), { maxLength: 8 }), (parts) => {
        const { text: left } = separateReasoning(parts.join(''));
        expect(() => readModelText(left)).not.toThrow();
        expect(separateReasoning(pullApart(left)).reasoning).toBe('');
      }),
      { numRuns: 500 },
    );
  });
});

describe('the work of telling reasoning, calls and ends apart', () => {
  const CHARS = 524_288;
  const filler = 'x'.repeat(250);
  const pieces = [
    ...['<think>', '</think>', '<think></think>{', '</think>{', '<think>{"a":"</think>', '{"dialogue":"<think>"}'],
    ...['<tool_call>', '<tool_call></tool_call>{', '[TOOL_CALLS]', '</s>{', '{"dialogue":"</s>"}', "{'action':'</s>'"],
    ...['<|channel|>x', '<|start|>a<|message|>b', '<|channel|>a to=b<|message|>c', '<', '[', '{"', '◁think▷'],
  ];

  it.each(pieces.flatMap((piece) => [piece, piece + filler]))(
    'is bounded for any number of repetitions of %j',
    (piece) => {
      const written = piece.repeat(Math.ceil(CHARS / piece.length)).slice(0, CHARS);
      for (const step of [separateReasoning, untilEnd, withoutToolCalls, readModelText]) {
        const began = performance.now();
        step(written);
        // Quadratic work on the longest legal text takes seconds.
        expect(performance.now() - began, step.name).toBeLessThan(1_000);
      }
    },
  );

  it('looks at no more than its bound for each search of answers', () => {
    expect(WHOLE_LOOKS).toBeLessThanOrEqual(1_000_000);
    // Each closing tag begins a new search; the object behind it reaches to the end of the text.
    const written = `</think>{${filler}`.repeat(OPENINGS - 1);
    expect(withoutReasoning(written).text).toBe(`{${filler}`);
  });
});
