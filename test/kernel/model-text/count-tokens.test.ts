import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { countTokens } from '../../../src/kernel/model-text/count-tokens.js';

const { texts } = JSON.parse(readFileSync(new URL('../../fixtures/token-counts.json', import.meta.url), 'utf8')) as {
  readonly texts: readonly { of: string; text: string; tokens: Readonly<Record<string, number>> }[];
};
/** What the current tokenizers that were measured need at most; the one of Mistral 7B has 32,000 tokens, and others ten times as many. */
const most = ({ 'Mistral 7B': _old, ...current }: Readonly<Record<string, number>>): number =>
  Math.max(...Object.values(current));
const ratios = texts.map(({ of, text, tokens }) => [of, countTokens(text) / most(tokens)] as const);

describe('the token counter', () => {
  it.each(ratios)('does not count %s far below real tokenizers [13.1b]', (_, ratio) => {
    expect(ratio).toBeGreaterThanOrEqual(0.9);
  });

  it.each(ratios.filter(([of]) => ['English', 'German', 'Russian', 'a prompt', 'code'].includes(of)))(
    'counts %s at most 1.4 times as high [13.1b]',
    (_, ratio) => {
      expect(ratio).toBeLessThanOrEqual(1.4);
    },
  );

  it('counts a text as the sum of its parts, about [13.1b]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        expect(Math.abs(countTokens(one) + countTokens(`\n${other}`) - countTokens(`${one}\n${other}`))).toBeLessThan(
          3,
        );
      }),
    );
  });

  it('has the same counts for ever: prompts are made from them', () => {
    expect(texts.map(({ of, text }) => `${of}: ${String(countTokens(text))}`)).toMatchInlineSnapshot(`
      [
        "English: 298",
        "German: 358",
        "Russian: 405",
        "Japanese: 538",
        "Chinese: 408",
        "French: 82",
        "Polish: 77",
        "Turkish: 79",
        "Korean: 83",
        "Arabic: 116",
        "Greek: 109",
        "Hebrew: 69",
        "Thai: 125",
        "Hindi: 98",
        "names of fantasy: 60",
        "JSON: 364",
        "JSON with indentation: 168",
        "identifiers: 325",
        "code: 468",
        "emoji: 47",
        "a prompt: 255",
      ]
    `);
  });
});
