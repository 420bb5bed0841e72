import { Type } from '@sinclair/typebox';

import type { Json } from '../../../kernel/base/json.js';
import { documentedAs, named } from '../../../kernel/http/named.js';
import { AnyJson, ClientId, FreeObject, nullable } from '../../../kernel/http/schemas.js';
import { RulesBody } from '../../rules/body-schemas.js';

/** How many cases one request may have: each is decided like a turn. */
const CASES = 200;

const described = (description: string) => Type.Optional(Type.Unsafe({ ...FreeObject, description }));
const Case = named(
  'RuleTestCase',
  Type.Object({
    name: Type.String({ description: 'Unique among the cases.' }),
    given: Type.Optional(
      Type.Object({
        state: described('The recorded data of the NPC.'),
        facts: described('What the game has reported.'),
        context: described('The context of the request.'),
        npcState: described('A merge patch of the state, for this decision alone.'),
      }),
    ),
    when: Type.Object(
      {
        observation: Type.Optional(Type.String()),
        output: Type.Optional(Type.String({ description: 'All that the model writes.' })),
        dialogue: Type.Optional(Type.String()),
        action: Type.Optional(AnyJson),
        stateDelta: Type.Optional(AnyJson),
      },
      { description: 'What happens, and what the model writes: `output`, or at least one of its parts.' },
    ),
    then: Type.Object(
      {
        valid: Type.Boolean(),
        action: Type.Optional(
          Type.Object({
            type: Type.Optional(Type.String()),
            target: Type.Optional(Type.String()),
            payload: Type.Optional(AnyJson),
          }),
        ),
        reason: Type.Optional(Type.String()),
        drRuleId: Type.Optional(Type.String()),
        dialogue: Type.Optional(Type.String()),
        stateDelta: Type.Optional(FreeObject),
        replacedBy: Type.Optional(Type.String()),
        matched: Type.Optional(
          Type.Array(Type.String(), { description: 'The ids of all rules that matched, in the order of the set.' }),
        ),
      },
      { description: 'What the verdict must have; members that are left out are not compared.' },
    ),
  }),
);

/** Cases, and the set that decides them. The cases are read by the code that reads files of tests, which says what was probably meant. */
export const RuleTestBody = named(
  'TestRulesRequest',
  Type.Object({
    cases: documentedAs(
      Type.Array(Case, { minItems: 1, maxItems: CASES }),
      Type.Unsafe<readonly Json[]>({ type: 'array', minItems: 1, maxItems: CASES }),
    ),
    ruleset: nullable(RulesBody),
    rulesetId: nullable({ ...ClientId, description: 'A registered set, instead of `ruleset`.' }),
    version: nullable(
      Type.Integer({
        minimum: 0,
        description: 'Of the registered set; the latest by default. 0 is the built-in preset of that name.',
      }),
    ),
  }),
);

export const RuleTestReport = named(
  'RuleTestReport',
  Type.Object({
    ruleset: Type.Union(
      [Type.Object({ rulesetId: Type.String(), version: Type.Integer(), digest: Type.String() }), Type.Null()],
      { description: 'The registered set that was tested; its version is 0 if it is built in.' },
    ),
    passed: Type.Integer(),
    failed: Type.Integer(),
    cases: Type.Array(
      named(
        'RuleTestResult',
        Type.Object({
          name: Type.String(),
          passed: Type.Boolean(),
          differences: Type.Array(
            Type.Object({
              member: Type.String(),
              expected: AnyJson,
              actual: Type.Optional(Type.Unsafe({ description: 'Absent if the verdict has no such member.' })),
            }),
          ),
          notes: Type.Array(Type.String(), { description: 'What explains the verdict.' }),
        }),
      ),
    ),
  }),
);
