import { expect, it } from 'vitest';

import { partsForEngine } from '../../../src/features/turns/prompt-again.js';

it('gives each memory of a prompt its similarity, in whatever order they are shown [6.4g]', () => {
  const parts = [
    { text: '"One."', from: 'memory', ref: 'm1' },
    { text: '"Two."', from: 'memory', ref: 'm2' },
    { text: '"Three."', from: 'memory' },
    { text: 'You heard: "Hm."', from: 'conversation', ref: 'm1' },
  ] as const;
  const memories = [{ memoryId: 'm2', similarity: 0.6 }, { memoryId: 'm1', similarity: 0.5 }, { similarity: 0.4 }];
  expect(partsForEngine(parts, memories)).toEqual([
    { text: '"One."', from: 'memory', similarity: 0.5 },
    { text: '"Two."', from: 'memory', similarity: 0.6 },
    { text: '"Three."', from: 'memory' },
    { text: 'You heard: "Hm."', from: 'conversation' },
  ]);
});
