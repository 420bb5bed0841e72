import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { excerpts } from '../../../../../src/features/turns/domain/decision/excerpt.js';
import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import { TEXT_RULES_BEFORE_3 } from '../../../../../src/features/turns/domain/decision/text-rules.js';
import { anInput } from '../../../../support/rules.js';

const excerpt = (text: string, chars: number, about: string): string => excerpts([{ text, chars }], about)[0] ?? '';
const filler = 'The road was long and the weather bad. '.repeat(60);

describe('an excerpt', () => {
  it('is the text itself, if that is short enough', () => {
    expect(excerpt('Short.', 6, 'x')).toBe('Short.');
  });

  it('is the part with the words that were said [13.2a]', () => {
    const fact = 'He hid the silver coins under the mill.';
    for (const text of [`${filler}${fact}`, `${fact} ${filler}`, `${filler}${fact} ${filler}`]) {
      const kept = excerpt(text, 300, 'Where are my coins?');
      expect(kept).toContain(fact);
      expect(kept.length).toBeLessThanOrEqual(300);
    }
    expect(excerpt(`${filler}${fact} ${filler}`, 300, 'Where are my coins?')).toMatch(/^….*…$/);
  });

  it('works in scripts without spaces [13.2a]', () => {
    const text = `${'今日は天気がいい。'.repeat(80)}銀貨は井戸の下にある。`;
    expect(excerpt(text, 100, '銀貨はどこ？')).toContain('銀貨は井戸の下にある。');
  });

  it('finds words at the end of what was said, and beside letters of another script [13.2a]', () => {
    const about = `${'Hm, well. '.repeat(2_000)}Where are my coins?`;
    expect(excerpt(`${filler}The coins are under the mill.`, 300, about)).toContain('under the mill');
    const mixed = `${'今日は天気がいい。'.repeat(80)}coin銀貨は井戸の下にある。`;
    expect(excerpt(mixed, 100, '銀貨はどこ？')).toContain('井戸の下');
  });

  it('is the beginning, if the text has none of the words [13.2a]', () => {
    expect(excerpt(filler, 100, 'Zebra?')).toBe(`${filler.slice(0, 99)}…`);
  });

  it('never exceeds its limit, nor splits a character', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '.', '😀', '\n', 'coin', '銀貨'), maxLength: 400 });
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 300 }), (one, chars) => {
        const kept = excerpt(one, chars, 'a coin 銀貨');
        expect(kept.length).toBeLessThanOrEqual(Math.max(chars, 1));
        expect(kept.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('the excerpts of a prompt', () => {
  it('examine the beginnings of very long texts, and all of the others [13.2a]', () => {
    const fact = 'The silver is under the well.';
    const long = { text: `${filler.repeat(6)}${fact}`, chars: 1_000 };
    const short = { text: `${filler}${fact}`, chars: 1_000 };
    const texts = [...Array.from({ length: 10 }, () => long), ...Array.from({ length: 10 }, () => short)];
    const kept = excerpts(texts, 'Where is the silver?');
    expect(kept.map((text) => text.includes(fact))).toEqual(texts.map((one) => one === short));
  });

  it('take a few milliseconds, whatever the texts are', () => {
    const han = Array.from({ length: 15_000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000))).join('');
    for (const text of [
      han,
      'a.b '.repeat(4_000),
      'ﷺ'.repeat(15_000),
      '\u0301\u0327'.repeat(7_500),
      '銀'.repeat(15_000),
    ]) {
      const began = performance.now();
      excerpts(
        Array.from({ length: 20 }, () => ({ text, chars: 1_000 })),
        text,
      );
      expect(performance.now() - began).toBeLessThan(2_000);
    }
  });
});

describe('a memory in a prompt', () => {
  const text = `${filler.slice(0, 1_100)}The silver is under the well.`;
  const memory = { text, type: 'observation', importance: 0.5, similarity: 0.9 };

  it('is whole while all of them fit, whatever words the question has [13.2a]', () => {
    const memories = Array.from({ length: 5 }, () => memory);
    const { prompt } = buildPrompt(anInput({ memories, observation: 'Where did I conceal my money?' }));
    expect(prompt.split('under the well').length).toBe(6);
    const before = buildPrompt(anInput({ memories, texts: TEXT_RULES_BEFORE_3 })).prompt;
    expect(before).not.toContain('under the well');
  });

  it('shows a fact in its last sentence, also in a script without spaces [13.2a]', () => {
    const chinese = { ...memory, text: `${'今天天气很好，路很长。'.repeat(104)}银子在井下面。` };
    const memories = Array.from({ length: 20 }, () => chinese);
    const { prompt } = buildPrompt(anInput({ memories, observation: '银子在哪里？' }));
    expect(prompt.split('银子在井下面').length).toBeGreaterThan(6);
    const english = Array.from({ length: 20 }, () => ({
      ...memory,
      text: `${filler.slice(0, 1_124)}${text.slice(1_100)}`,
    }));
    expect(buildPrompt(anInput({ memories: english, observation: 'Where is the silver?' })).prompt).toContain(
      'under the well',
    );
  });

  it('is otherwise the part with the words of the observation, and all memories are there [13.2a]', () => {
    const long = { ...memory, text: `${filler}${text}` };
    const { prompt } = buildPrompt(
      anInput({ memories: Array.from({ length: 18 }, () => long), observation: 'Where is the silver?' }),
    );
    expect(prompt.split('The silver is under the well').length).toBe(19);
  });
});
