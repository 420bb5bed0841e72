import { isSameJson } from '../../../../kernel/base/same-json.js';
import type { Json } from '../../../../kernel/base/json.js';
import { mergePatch } from '../../../../kernel/base/merge-patch.js';
import { defined } from '../../../../kernel/base/defined.js';
import type { Sliced } from '../../../../kernel/base/sliced.js';
import type { DirectiveRuleSet } from '../../../rules/domain/ruleset.js';
import type { DecisionInput } from '../decision/input.js';
import { CURRENT_LOGIC, logicOf } from '../decision/logic.js';
import { heldPatterns } from '../decision/observation-line.js';
import type { ReachedVerdict } from '../decision/verdict.js';
import type { ExpectedVerdict, RuleCase } from './rule-case.js';

/** A member of the verdict that is not as the case expects. Undefined: the verdict has none. */
export type CaseDifference = { readonly member: string; readonly expected: Json; readonly actual: Json | undefined };

export type RuleCaseResult = {
  readonly name: string;
  readonly passed: boolean;
  readonly differences: readonly CaseDifference[];
  /** What explains the verdict, as sentences: why it is a refusal, and what it left out of the state change. */
  readonly notes: readonly string[];
};

/** An NPC that has the state and the facts of the case, and nothing else. */
const inputOf = (
  ruleset: DirectiveRuleSet,
  { state, npcState, facts, context, observation }: RuleCase,
  patternsHeld: readonly string[],
): DecisionInput => ({
  npcId: 'npc',
  ...{ observation, context, facts, ruleset, patternsHeld },
  ...{ data: state, npcState: mergePatch(state, npcState), persona: null, memories: [], conversation: [] },
  texts: logicOf(CURRENT_LOGIC).texts,
});

/** What a verdict has for each member that a case can expect. */
const actualOf = ({ verdict, grounds }: ReachedVerdict): Readonly<Record<string, Json | undefined>> => ({
  valid: verdict.valid,
  'action.type': verdict.action?.type,
  'action.target': verdict.action?.target,
  // Null, which an action cannot have as its payload, expects none.
  'action.payload': verdict.action === null ? undefined : (verdict.action.payload ?? null),
  reason: verdict.valid ? undefined : (verdict.reason ?? verdict.dialogue),
  drRuleId: verdict.valid ? undefined : verdict.details?.['drRuleId'],
  dialogue: verdict.dialogue,
  stateDelta: verdict.stateDelta,
  replacedBy: grounds.replacedBy,
  matched: grounds.rules.filter(({ matched }) => matched).map(({ drRuleId }) => drRuleId),
});

const expectedOf = ({ valid, action, ...members }: ExpectedVerdict): readonly (readonly [string, Json])[] =>
  Object.entries({
    valid,
    ...defined({
      'action.type': action?.type,
      'action.target': action?.target,
      'action.payload': action?.payload,
    }),
    ...members,
  });

const notesOf = ({ grounds }: ReachedVerdict, actual: ReturnType<typeof actualOf>): readonly string[] => {
  const { reason, drRuleId } = actual;
  const by = typeof drRuleId === 'string' ? ` by ${drRuleId}` : '';
  return [
    ...(typeof reason === 'string' ? [`Refused${by}: ${reason}`] : []),
    ...(grounds.stateBreaks ?? []).map(({ path, reason: why }) => `Not allowed to change ${path}: ${why}`),
  ];
};

/** Decides a case as a turn would be decided now, and compares what the case expects. */
export function* runRuleCase(ruleset: DirectiveRuleSet, one: RuleCase): Sliced<RuleCaseResult> {
  const patternsHeld = yield* heldPatterns(ruleset, one.observation);
  const reached = logicOf(CURRENT_LOGIC).reachVerdict(inputOf(ruleset, one, patternsHeld), one.output);
  const actual = actualOf(reached);
  const differences = expectedOf(one.expected)
    .filter(([member, expected]) => !isSameJson(expected, actual[member]))
    .map(([member, expected]) => ({ member, expected, actual: actual[member] }));
  return { name: one.name, passed: differences.length === 0, differences, notes: notesOf(reached, actual) };
}
