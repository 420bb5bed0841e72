import type { Json, JsonObject } from '../../../kernel/base/json.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { INPUT_BYTES, INPUT_VALUES, recordableBytes } from '../../../kernel/base/input-bytes.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { yieldToEventLoop } from '../../../kernel/concurrency/yield-to-event-loop.js';
import { clientSignal } from '../../../kernel/http/client-signal.js';
import { type Call, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { askedRuleset, type AskedRuleset } from '../../rules/asked-ruleset.js';
import { usedRuleset } from '../../rules/ruleset-digest.js';
import { DEFAULT_RULESET_ID, type Rulesets } from '../../rules/rulesets.js';
import { bodyProblems, readRuleCases } from '../domain/rule-tests/read-rule-tests.js';
import { type RuleCaseResult, runRuleCase } from '../domain/rule-tests/run-rule-case.js';
import { ruleTestExamples as examples } from './rule-test-examples.js';
import { RuleTestBody, RuleTestReport } from './rule-test-schemas.js';

/** How many requests are served at a time, in total and of one tenant: each decides up to 200 cases. */
const TESTS = 8;
const TENANT_TESTS = 2;

type TestCall = Call<unknown, unknown, (typeof RuleTestBody)['static']>;

/** The set that decides the cases: without one, the tenant's default. @throws Rejection as askedRuleset */
const rulesetOf = async (rulesets: Rulesets, { principal: { tenant }, body }: TestCall): Promise<AskedRuleset> => {
  const asked = await askedRuleset(rulesets, tenant, body);
  if (asked !== null) return asked;
  const ruleset = await rulesets.deciding(tenant, DEFAULT_RULESET_ID);
  if (ruleset === null) throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId: DEFAULT_RULESET_ID } });
  return { ruleset, used: await usedRuleset(ruleset) };
};

const TOO_LARGE = `Must have at most ${INPUT_BYTES} bytes of JSON and ${INPUT_VALUES} values, like a request of a turn.`;

/** The problems of cases that no request of a turn could bring, in slices of one case. */
function* sizeProblems(cases: readonly Json[]): Sliced<readonly JsonObject[]> {
  const problems: JsonObject[] = [];
  for (const [at, one] of cases.entries()) {
    if (recordableBytes(one) instanceof Rejection) problems.push({ pointer: `/cases/${at}`, message: TOO_LARGE });
    yield 1;
  }
  return problems;
}

const invalid = (problems: readonly Json[]): Rejection =>
  new Rejection('RULE_TESTS_INVALID', { details: { problems } });

/** `POST /rules/test`: decides the cases of a designer, as `anima rules test` does. */
export const ruleTestRoute = ({ rulesets }: { readonly rulesets: Rulesets }): RouteDefinition => {
  const permits = new Semaphore(TESTS, TENANT_TESTS);
  return route('POST', '/rules/test', {
    operationId: 'testRules',
    tag: 'Rules',
    summary: 'Test rules: decide cases and compare the verdicts with what they expect',
    description: 'Nothing is recorded. A case that fails is no error.',
    scope: 'rules',
    ext: true,
    retention: 'never',
    body: RuleTestBody,
    example: examples.request,
    refuses: [
      ...(['RULESET_NOT_FOUND', 'RULE_TESTS_INVALID', 'PATTERN_INVALID', 'RULE_ID_REPEATED', 'RULES_INVALID'] as const),
      ...(['RULESET_TOO_LARGE', 'TEMPLATE_INVALID'] as const),
    ],
    enter: ({ principal }) => permits.acquire(principal.tenant),
    responses: ok('The results, in the order of the cases.', RuleTestReport, examples.report),
    handler: async (call) => {
      const gone = clientSignal(call);
      const { cases } = call.body;
      const unknown = bodyProblems(call.body);
      if (unknown.length > 0) throw invalid(unknown);
      const read = await inSlices(readRuleCases(cases));
      if ('problems' in read) throw invalid(read.problems);
      const large = await inSlices(sizeProblems(cases));
      if (large.length > 0) throw invalid(large);
      const { ruleset, used } = await rulesetOf(rulesets, call);
      const results: RuleCaseResult[] = [];
      for (const one of read.cases) {
        results.push(await inSlices(runRuleCase(ruleset, one)));
        await yieldToEventLoop();
        gone?.throwIfAborted();
      }
      const passed = results.filter((result) => result.passed).length;
      return { body: { ruleset: used, passed, failed: results.length - passed, cases: results } };
    },
  });
};
