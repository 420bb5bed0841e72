import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { reachVerdict } from '../../../../src/features/turns/domain/decision/verdict.js';
import type { Action } from '../../../../src/features/rules/domain/bridge/action.js';
import type { DirectiveRule } from '../../../../src/features/rules/domain/ruleset.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { anInput, aRuleset } from '../../../support/rules.js';
import { refusingRule } from './evaluator.js';

/** The number of compared verdicts; a failure prints the seed and the path to the shortest case. */
const VERDICTS = 3_000;
const SEED = 20_260;

/** Few words, so that conditions hold often enough; each with its traps: numbers as text, code points, empty texts. */
const word = fc.constantFrom(
  'calm',
  'angry',
  'orc',
  '',
  '9',
  '10',
  '10.0',
  '-1',
  '1e1',
  '010',
  '\u{10400}',
  '\uffff',
  'true',
  'null',
);
const scalar = fc.oneof(word, fc.constantFrom(9, 10, -1, 0.5, 100), fc.boolean(), fc.constant(null));
const name = fc.constantFrom('hp', 'mood', 'tags', 'list', 'x');
const state = fc.dictionary(
  name,
  fc.oneof(
    scalar,
    fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 3 }),
    fc.dictionary(name, scalar, { maxKeys: 2 }),
    fc.array(fc.dictionary(name, scalar, { maxKeys: 2 }), { maxLength: 3 }),
  ),
  { maxKeys: 4 },
);
const type = fc.constantFrom('MOVE', 'ATTACK', 'SPEAK', 'WAVE');
const key = fc.oneof(
  name,
  fc.tuple(name, name).map((names) => names.join('.')),
  fc.tuple(name, fc.constantFrom('0', '1', '00')).map((names) => names.join('.')),
  name.map((one) => `context.${one}`),
  fc.constantFrom('action.type', 'action.target', 'action.payload.x', 'context', 'action', 'context.list.x'),
);
const asked = fc.oneof(
  { weight: 2, arbitrary: fc.constant('*') },
  { weight: 3, arbitrary: word },
  { weight: 2, arbitrary: type },
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '!=', '<= ', '!= '), word).map((parts) => parts.join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.oneof(
          word,
          word.map((one) => `!=${one}`),
          word.map((one) => `<${one}`),
        ),
        { minLength: 2, maxLength: 3 },
      )
      .map((parts) => parts.join('|')),
  },
);
const types = fc.array(
  fc.oneof(
    type,
    type.map((one) => one.toLowerCase()),
    fc.constantFrom('*', 'Wave '),
  ),
  { minLength: 1, maxLength: 2 },
);
const rule: fc.Arbitrary<Partial<DirectiveRule>> = fc.record({
  ruleCondition: fc.array(fc.tuple(key, asked), { maxLength: 2 }),
  ruleObsPattern: fc.constantFrom(null, null, null, '', 'thief', '^a', 'RUNS?$', '[0-9]+'),
  ruleAction: fc.oneof(
    type,
    fc
      .tuple(fc.constantFrom('FORBID ', 'forbid ', 'Forbid\t'), types)
      .map(([forbid, list]) => forbid + list.join(', ')),
    fc.constantFrom('', 'be kind', 'FORBID', 'forbid a b', 'attack', ' MOVE '),
  ),
  ruleTarget: fc.constantFrom(null, null, '', 'orc', 'gate'),
  rulePriority: fc.integer({ min: 0, max: 3 }),
});
const target = fc.constantFrom(undefined, '', 'orc', 'gate');
const action = fc.record({
  type: type.filter((one) => one !== 'SPEAK'),
  target,
  payload: fc.option(state, { nil: undefined }),
});
const scene = fc.record({
  observation: fc.constantFrom('', 'A thief runs', 'the thief', 'Room 9', 'ab'),
  npcState: state,
  context: state,
  said: fc.oneof({ weight: 4, arbitrary: action }, { weight: 1, arbitrary: fc.constant(null) }),
  rules: fc.array(rule, { minLength: 1, maxLength: 5 }),
});

describe('verdicts', () => {
  it(`agree with an independent evaluator ${VERDICTS} times, on the rule that refuses and on all that match`, () => {
    const reached = { refused: 0, passed: 0, lowerThanFirst: 0 };
    fc.assert(
      fc.property(scene, ({ said, rules, npcState, context, observation }) => {
        const ruleset = aRuleset(rules);
        // The bridge judges the targets of moves and attacks; its objections come after the rules.
        const output = said === null ? 'Hm.' : JSON.stringify({ dialogue: 'Hm.', action: said });
        const { verdict, grounds } = reachVerdict(
          anInput({ ruleset, observation, npcState: npcState, context: context as JsonObject }),
          output,
        );
        const acted = JSON.parse(JSON.stringify(said ?? { type: 'SPEAK' })) as Action;
        const expected = refusingRule(ruleset.rulesetRules, {
          observation,
          npcState,
          context,
          action: acted,
          made: said === null,
        });
        const refusing = verdict.code === 'RULE_REFUSED' ? (verdict.details?.['drRuleId'] ?? null) : null;
        expect(refusing).toBe(expected.refusing);
        expect(grounds.rules.filter(({ matched }) => matched).map(({ drRuleId }) => drRuleId)).toEqual(
          expected.matched,
        );
        if (refusing === null) reached.passed += 1;
        else reached.refused += 1;
        if (refusing !== null && refusing !== expected.matched[0]) reached.lowerThanFirst += 1;
      }),
      { seed: SEED, numRuns: VERDICTS },
    );
    // An agreement test that never meets the case shows nothing.
    expect(reached.refused).toBeGreaterThan(VERDICTS / 5);
    expect(reached.passed).toBeGreaterThan(VERDICTS / 5);
    expect(reached.lowerThanFirst).toBeGreaterThan(VERDICTS / 50);
  });
});
