import { describe, expect, it } from 'vitest';

import { readRuleTests } from '../../../../../src/features/turns/domain/rule-tests/read-rule-tests.js';
import { drained } from '../../../../../src/kernel/base/sliced.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';

const ruleset = { rulesetRules: [] };
const whole: JsonObject = { name: 'a', when: { output: 'Hello.' }, then: { valid: true } };
const read = (content: Json) => drained(readRuleTests(content));
/** `pointer: message` of each problem, with what was meant. */
const problemsOf = (content: Json): readonly string[] => {
  const found = read(content);
  return 'tests' in found
    ? []
    : found.problems.map(
        ({ pointer, message, meant }) => `${pointer}: ${message}${meant === undefined ? '' : ` ${meant}?`}`,
      );
};
const problemsOfCase = (one: Json): readonly string[] => problemsOf({ ruleset, cases: [one] });

describe('a file of tests', () => {
  it('has cases with defaults for what they leave out [5.10d, 5.10e, 5.10f]', () => {
    expect(read({ ruleset, cases: [whole] })).toEqual({
      tests: {
        ruleset,
        cases: [
          {
            ...{ name: 'a', state: {}, npcState: {}, facts: {}, context: {}, observation: '', output: 'Hello.' },
            expected: { valid: true },
          },
        ],
      },
    });
  });

  it('makes the output of a model of its parts [5.10f]', () => {
    const when = { stateDelta: { mood: 'glad' }, action: { type: 'WAVE' }, dialogue: 'Hi.' };
    expect(read({ ruleset, cases: [{ ...whole, when }] })).toMatchObject({
      tests: { cases: [{ output: '{"dialogue":"Hi.","action":{"type":"WAVE"},"stateDelta":{"mood":"glad"}}' }] },
    });
  });

  it.each<[string, JsonObject, string]>([
    ['a misspelt name', { ...whole, gives: {} }, '/cases/0/gives: There is no member "gives". given?'],
    ['a name of another tool', { ...whole, expected: {} }, '/cases/0/expected: There is no member "expected". then?'],
    [
      'a member in the wrong place',
      { ...whole, facts: {} },
      '/cases/0/facts: There is no member "facts". given.facts?',
    ],
    [
      'the name of the protocol',
      { ...whole, given: { data: {} } },
      '/cases/0/given/data: There is no member "data". state?',
    ],
    [
      'an unknown name in an action',
      { ...whole, when: { action: { type: 'GIVE', targets: 'p' } } },
      '/cases/0/when/action/targets: There is no member "targets". target?',
    ],
    [
      'an unknown name in the expected action',
      { ...whole, then: { valid: true, action: { tpye: 'GIVE' } } },
      '/cases/0/then/action/tpye: There is no member "tpye". type?',
    ],
    [
      'a parameter beside the payload',
      { ...whole, when: { action: { type: 'GIVE', item: 'ring' } } },
      '/cases/0/when/action/item: An action has no member "item". Put it in its payload. payload.item?',
    ],
    [
      'a type as the expected action',
      { ...whole, then: { valid: true, action: 'SELL' } },
      '/cases/0/then/action: Must be an object. {type: SELL}?',
    ],
    [
      'a part of the name of a rule id',
      { ...whole, then: { valid: false, drRule: 'floor' } },
      '/cases/0/then/drRule: There is no member "drRule". drRuleId?',
    ],
    ['a name like no other', { ...whole, 'a/b~': 1 }, '/cases/0/a~1b~0: There is no member "a/b~".'],
    ['a word for true', { ...whole, then: { valid: 'Yes' } }, '/cases/0/then/valid: Must be true or false. true?'],
    ['the wrong type', { ...whole, then: { valid: 1 } }, '/cases/0/then/valid: Must be true or false.'],
    [
      'half of a text as a name',
      { ...whole, then: { valid: true, 'shall we?': null } },
      '/cases/0/then/shall we?: There is no member "shall we?". If it is part of a text with a comma, put the text in quotes.',
    ],
    [
      'an action of which nothing is expected',
      { ...whole, then: { valid: true, action: {} } },
      '/cases/0/then/action: Say what the action must have.',
    ],
    ['no expectation', { ...whole, then: {} }, '/cases/0/then: The member valid is missing.'],
    [
      'nothing that a model writes',
      { ...whole, when: { observation: 'Hi.' } },
      '/cases/0/when: Say what the model writes: output, or one or more of dialogue, action, stateDelta.',
    ],
    [
      'two outputs',
      { ...whole, when: { output: 'x', dialogue: 'y' } },
      '/cases/0/when/dialogue: output is all that the model writes, so nothing can be added to it.',
    ],
    ['no text as a name', { ...whole, name: 1 }, '/cases/0/name: Must be a text. Put it in quotes. "1"?'],
  ])('is invalid with %s [5.10d]', (_, one, found) => {
    expect(problemsOfCase(one)).toEqual([found]);
  });

  it('is invalid with two cases of one name, or without what it needs [5.10c, 5.10d]', () => {
    expect(problemsOf({ ruleset, cases: [whole, whole] })).toEqual(['/cases/1/name: Another case is named "a".']);
    expect(problemsOf({ cases: [null] })).toEqual([': The member ruleset is missing.', '/cases/0: Must be an object.']);
    expect(problemsOf({ ruleset: 1, tests: [], cases: {} })).toEqual([
      '/ruleset: Must be a path or a ruleset.',
      '/tests: There is no member "tests". cases?',
      '/cases: Must be a list.',
    ]);
    expect(problemsOf([])).toEqual([': Must be an object with ruleset and cases.']);
    expect(problemsOfCase({})).toEqual(
      ['name', 'when', 'then'].map((name) => `/cases/0: The member ${name} is missing.`),
    );
  });
});
