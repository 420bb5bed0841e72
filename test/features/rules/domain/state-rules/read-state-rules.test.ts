import { describe, expect, it } from 'vitest';

import { normaliseRuleset } from '../../../../../src/features/rules/domain/normalise.js';
import { readStateRules } from '../../../../../src/features/rules/domain/state-rules/read-state-rules.js';
import type { Json } from '../../../../../src/kernel/base/json.js';
import { allSlices } from '../../../../support/rules.js';

const problemsOf = (...rules: readonly Json[]) =>
  readStateRules(rules).problems.map(({ pointer, message, meant }) => [pointer, meant ?? message]);

describe('the state rules of a set', () => {
  it('are read, without what is null or empty [5.8a]', () => {
    const rules = [
      { path: 'quest.*.done', writer: 'game' },
      { path: 'trust', writer: 'model', type: 'integer', min: 0, max: 9, step: 1, onBreak: 'clamp' },
      { path: 'mood', writer: 'model', values: ['calm', 'angry', 3, true], optional: true },
    ];
    expect(readStateRules(rules)).toEqual({ rules, problems: [] });
    const sparse = { path: 'mood', writer: 'model', min: null, type: '', onBreak: null, optional: false };
    expect(readStateRules([sparse]).rules).toEqual([{ path: 'mood', writer: 'model' }]);
    for (const none of [undefined, null, []]) expect(readStateRules(none)).toEqual({ rules: [], problems: [] });
  });

  it.each<[string, Json, readonly string[]]>([
    ['no object', 'mood', ['/0', 'Must be an object.']],
    ['no writer', { path: 'mood' }, ['/0/writer', 'Is missing.']],
    ['another writer', { path: 'mood', writer: 'player' }, ['/0/writer', 'Must be one of "game", "model".']],
    ['a misspelt member', { path: 'mood', writer: 'model', opional: true }, ['/0/opional', 'optional']],
    ['an unknown member', { path: 'mood', writer: 'model', colour: 3 }, ['/0/colour', 'There is no member "colour".']],
    ['the path of a condition', { path: 'state.mood', writer: 'model' }, ['/0/path', 'mood']],
    ['the path of a fact', { path: 'facts.war', writer: 'game' }, ['/0/path', expect.any(String) as string]],
    ['the letter of a condition', { path: 'bag[x].qty', writer: 'game' }, ['/0/path', expect.any(String) as string]],
    ['a list of paths', { path: 'hp,mana', writer: 'game' }, ['/0/path', expect.any(String) as string]],
    ['the state itself', { path: 'State.hp', writer: 'game' }, ['/0/path', 'hp']],
    ['an empty name', { path: 'a..b', writer: 'game' }, ['/0/path', expect.stringContaining('empty') as string]],
    ['nine names', { path: 'a.b.c.d.e.f.g.h.i', writer: 'game' }, ['/0/path', 'Must have at most 8 names.']],
    ['a limit that is no number', { path: 'a', writer: 'model', min: '3' }, ['/0/min', expect.any(String) as string]],
    ['a negative step', { path: 'a', writer: 'model', step: -1 }, ['/0/step', expect.any(String) as string]],
    ['limits that leave nothing', { path: 'a', writer: 'model', min: 3, max: 2 }, ['/0', expect.any(String) as string]],
    ['limits of a text', { path: 'a', writer: 'model', type: 'string', max: 2 }, ['/0', expect.any(String) as string]],
    ['limits of the game', { path: 'a', writer: 'game', max: 2 }, ['/0', expect.any(String) as string]],
    ['a clamped member of the game', { path: 'a', writer: 'game', onBreak: 'clamp' }, ['/0', 'leave_out']],
    ['no values', { path: 'a', writer: 'model', values: [] }, ['/0/values', expect.any(String) as string]],
    [
      '65 values',
      { path: 'a', writer: 'model', values: Array(65).fill(1) },
      ['/0/values', expect.any(String) as string],
    ],
  ])('are refused with %s [5.8a, 5.8b, 5.8d]', (_, rule, problem) => {
    expect(problemsOf(rule)).toEqual([problem]);
  });

  it('are refused if one path has two of them, or if there are more than 64 [5.8a]', () => {
    const one = { path: 'mood', writer: 'game' };
    expect(problemsOf(one, one)).toEqual([['/1/path', 'Another state rule has the same path.']]);
    const many = Array.from({ length: 65 }, (_, at) => ({ path: `m${String(at)}`, writer: 'game' }));
    expect(problemsOf(...many)).toEqual([['', 'Must have at most 64 state rules.']]);
    expect(readStateRules(many.slice(1)).problems).toEqual([]);
    expect(readStateRules({ path: 'mood' }).problems).toEqual([
      { pointer: '', message: 'Must be a list of state rules.' },
    ]);
  });

  it('are refused together with the problems of the rules [5.8a]', () => {
    const refused = allSlices(
      normaliseRuleset(
        {
          ruleState: [{ path: 'mood', writer: 'nobody' }],
          ruleRefusal: 'x'.repeat(2_001),
          rulesetRules: [
            { ruleAction: 'DENY SELL', ruleOnBreak: 'replace' },
            { ruleAction: 'FORBID X', ruleOnBreak: 'fix' },
          ],
        },
        () => 'r',
      ),
    ).result;
    expect(refused).toMatchObject({
      code: 'RULES_INVALID',
      details: {
        problems: [
          { pointer: '/ruleRefusal' },
          { pointer: '/ruleState/0/writer' },
          { pointer: '/rulesetRules/0/ruleAction' },
          { pointer: '/rulesetRules/1/ruleOnBreak' },
        ],
      },
    });
  });
});
