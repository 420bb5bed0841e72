import { Type } from '@sinclair/typebox';
import { expect, it } from 'vitest';

import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { requireKnownMembers } from '../../../../src/kernel/http/guard/known-members.js';
import { nullable } from '../../../../src/kernel/http/schemas.js';

const Body = Type.Object({
  rulesetId: nullable(Type.String()),
  rules: nullable(Type.Object({ rulesetRules: Type.Array(Type.Object({ ruleAction: Type.String() })) })),
  outputs: nullable(Type.Array(Type.Object({ npcId: nullable(Type.String()), turnId: Type.String() }))),
});
const problemsOf = (body: object): unknown => {
  try {
    requireKnownMembers(body, Body);
    return [];
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return (error.details as { problems: { pointer: string; meant?: string }[] }).problems.map(({ pointer, meant }) => [
      pointer,
      meant,
    ]);
  }
};

it.each<[body: object, problems: readonly (readonly [pointer: string, meant: string | undefined])[]]>([
  [{ rulesetId: 'x', outputs: [{ npcId: 'a', turnId: 't' }], rules: { anything: 1 } }, []],
  [{ ruleSetId: 'x' }, [['/ruleSetId', 'rulesetId']]],
  [{ ruleset: 'x' }, [['/ruleset', 'rulesetId']]],
  [{ ruleset: { rulesetRules: [] } }, [['/ruleset', 'rules']]],
  [
    { ruleset: null, 'a/b': 1 },
    [
      ['/ruleset', 'rulesetId'],
      ['/a~1b', undefined],
    ],
  ],
  [
    { outputs: [{ turnId: 't' }, { turnID: 't', npcID: 'a' }] },
    [
      ['/outputs/1/turnID', 'turnId'],
      ['/outputs/1/npcID', 'npcId'],
    ],
  ],
  [{ outputs: null }, []],
])('a body is refused with its unknown members: %j [10.3u]', (body, problems) => {
  expect(problemsOf(body)).toEqual(problems);
});

it('lists at most 100 unknown members, of a body and of its lists', () => {
  const outputs = Array.from({ length: 1_000 }, () => ({ turnId: 't', a: 1, b: 2 }));
  expect(problemsOf({ outputs })).toHaveLength(100);
  expect(problemsOf({ outputs, ...Object.fromEntries(outputs.map((_, at) => [`m${at}`, 1])) })).toHaveLength(100);
});
