import { describe, expect, it } from 'vitest';

import { readOwnPrompt } from '../../../../src/features/rules/domain/prompt/read-own-prompt.js';
import { normaliseRuleset } from '../../../../src/features/rules/domain/normalise.js';
import { memberWarnings } from '../../../../src/features/rules/domain/warnings.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { allSlices } from '../../../support/rules.js';

const problemsOf = (prompt: Json) =>
  readOwnPrompt(prompt).problems.map(({ pointer, message, meant }) => [pointer, meant ?? message]);
const normalised = (body: JsonObject) => allSlices(normaliseRuleset(body, () => 'r')).result;
const some = expect.any(String) as string;

const FULL = {
  opening: 'Du bist eine Figur in einem Spiel.\nSprich Deutsch.',
  headings: { persona: 'Wer du bist', heard: 'Du hast gehört' },
  ages: { now: 'gerade eben', minutes: 'vor {n} Minuten' },
  order: ['rules', 'persona'],
  instructions: ['Antworte kurz.'],
  answer: 'Antworte mit {"dialogue": was du sagst}.',
};

describe('the prompt of a set', () => {
  it('is read and stored as it was sent, without what is null or empty [13.6a]', () => {
    expect(readOwnPrompt(FULL)).toEqual({ prompt: FULL, problems: [] });
    expect(normalised({ prompt: FULL })).toMatchObject({ grammar: 2, prompt: FULL });
    expect(readOwnPrompt({ opening: 'x', answer: null, order: [], headings: { rules: '' } }).prompt).toEqual({
      opening: 'x',
    });
  });

  it('is none without members [13.6a]', () => {
    for (const none of [undefined, null, '', {}, { headings: {}, instructions: [] }])
      expect(readOwnPrompt(none)).toEqual({ prompt: null, problems: [] });
    expect(normalised({ prompt: {} })).not.toHaveProperty('prompt');
  });

  it.each<[string, Json, readonly [string, string]]>([
    ['a text', 'Be kind.', ['', some]],
    ['a list', [], ['', some]],
    ['a misspelt member', { heading: { rules: 'Regeln' } }, ['/heading', 'headings']],
    ['another name of a member', { system: 'x' }, ['/system', 'opening']],
    ['an unknown member', { colour: 'red' }, ['/colour', 'There is no member "colour".']],
    ['__proto__', JSON.parse('{"__proto__": {"a": 1}}') as Json, ['/__proto__', some]],
    ['an opening that is no text', { opening: 3 }, ['/opening', 'Must be a text.']],
    ['an opening of spaces', { opening: ' \n' }, ['/opening', 'Must be a text.']],
    ['a misspelt heading', { headings: { memorys: 'x' } }, ['/headings/memorys', 'memories']],
    ['a heading of two lines', { headings: { rules: 'a\nb' } }, ['/headings/rules', some]],
    ['a long heading', { headings: { rules: 'x'.repeat(101) } }, ['/headings/rules', some]],
    ['a heading with its colon', { headings: { rules: 'Regeln: ' } }, ['/headings/rules', 'Regeln']],
    ['headings in a list', { headings: ['x'] }, ['/headings', some]],
    ['ages without the number', { ages: { days: 'vor Tagen' } }, ['/ages/days', 'Must contain {n} for the number.']],
    ['an unknown age', { ages: { second: 'x' } }, ['/ages/second', some]],
    ['a part that is none', { order: ['memory', 'rules'] }, ['/order/0', some]],
    ['a misspelt part', { order: ['rules', 'memorie'] }, ['/order/1', 'memories']],
    ['a part twice', { order: ['rules', 'rules'] }, ['/order/1', 'Each part stands once.']],
    ['an instruction of two lines', { instructions: ['x', 'a\r\nb'] }, ['/instructions/1', some]],
    ['one instruction', { instructions: 'x' }, ['/instructions', some]],
    ['too many instructions', { instructions: Array(21).fill('x') as Json }, ['/instructions', some]],
    [
      'an answer without dialogue',
      { answer: 'Answer in JSON with dialogue.' },
      ['/answer', 'Must ask for an object with "dialogue": only that is spoken.'],
    ],
    ['too much of it', { opening: 'x'.repeat(4_096) }, ['', 'Must have at most 4096 bytes of JSON.']],
  ])('is refused with %s [13.6a, 13.6d, 13.6e, 13.6f, 13.6g, 13.6h]', (_, prompt, problem) => {
    expect(problemsOf(prompt)).toEqual([problem]);
    expect(normalised({ prompt })).toMatchObject({
      code: 'RULES_INVALID',
      details: { problems: [{ drRuleId: '', pointer: `/prompt${problem[0]}` }] },
    });
  });

  it('has no effect in grammar 1, and registration warns of it [13.6a]', () => {
    expect(normalised({ grammar: 1, prompt: FULL })).not.toHaveProperty('prompt');
    expect(memberWarnings({ grammar: 1, prompt: FULL }, { rulesetRules: [] }).map(({ message }) => message)).toEqual([
      expect.stringContaining('has no prompt'),
    ]);
  });

  it('is refused under another name of the member [13.6a]', () => {
    expect(normalised({ rulePrompt: FULL })).toMatchObject({ details: { problems: [{ meant: 'prompt' }] } });
  });
});
