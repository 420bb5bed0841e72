import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { dialogueSoFar } from '../../../../../src/features/turns/domain/decision/dialogue-so-far.js';
import { readModelText } from '../../../../../src/features/turns/domain/decision/model-text.js';

describe('the dialogue of an answer that is not complete', () => {
  it.each([
    ['{"dialogue": "Good day. How a', 'Good day. How a'],
    ['```json\n{"dialogue": "Good day.', 'Good day.'],
    ['<think>He is lying.</think>{"dialogue": "Good day.', 'Good day.'],
    [
      '{"action": {"type": "SELL", "dialogue": "no"}, "memoryStore": ["{\\"dialogue\\": \\"no\\""], "dialogue": "Y',
      'Y',
    ],
    ['{"dialogue": "She said \\"no\\". \\u00c', 'She said "no".'],
    ['{"dialogue": "A path\\\\', 'A path\\'],
    ['{"dialogue": "Good day. <|im_e', 'Good day.'],
    ['{"dialogue": "One.\nTwo.', 'One.\nTwo.'],
    ['{"dialogue": "Good day.\\n\\n', 'Good day.'],
    ['{"dialogue": "Good day.\\n### Res', 'Good day.'],
    ['{"dialogue": "Good day. <think\\nkind=\\"a', 'Good day.'],
    ['{"dialogue": "Good day. <think\\nkind=\\"a\\">He lies.</think>You', 'Good day. You'],
    ['{"dialogue": "Good day.", "memoryStore": ["He said </think>', 'Good day.'],
    ['{"dialogue": "He lies.</think>Good day.', 'Good day.'],
    ['{"dialogue": "He lies."}</think>{"dialogue": "Good day.', 'Good day.'],
  ])('is what has been written of it: %s', (output, dialogue) => {
    expect(dialogueSoFar(output)).toBe(dialogue);
  });

  it.each([
    'Good day.',
    'I should say {"dialogue": "Good day.',
    '<think>{"dialogue": "Good day.',
    '{"dialogue": ',
    '{"action": "SPEAK',
    '{"dialogue": ["Good day.',
    '{"dialogue": "<think>He is a fool. I will betray him.',
    '{"dialogue": "\\u003cthink\\u003eHe is a fool. I will betray him.',
  ])('is not read before it is certain that it is one: %s', (output) => {
    expect(dialogueSoFar(output)).toBe('');
  });

  it('is the beginning of what is said in the end, wherever it breaks off', () => {
    const answer = fc.record({
      action: fc.constantFrom('SPEAK', { type: 'SELL', payload: { note: '}]"\\' } }),
      dialogue: fc.string({ unit: fc.constantFrom('Good day. ', 'a', '"', '\\', '\n', 'é', '😀', '{', '}', ', ') }),
    });
    fc.assert(
      fc.property(answer, fc.nat(400), (object, length) => {
        const output = JSON.stringify(object);
        const said = readModelText(output).dialogue;
        const sofar = dialogueSoFar(output.slice(0, length))
          .toWellFormed()
          .replace(/\ufffd$/u, '');
        expect(said.startsWith(sofar.trimEnd())).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
