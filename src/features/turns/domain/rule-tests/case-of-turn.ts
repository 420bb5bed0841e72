import { defined } from '../../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { isSameJson } from '../../../../kernel/base/same-json.js';
import type { Verdict } from '../../../npcs/domain/events.js';
import type { DecisionInput } from '../decision/input.js';
import { readModelText } from '../decision/model-text.js';
import { outputOf, readRuleCases } from './read-rule-tests.js';
import { drained } from '../../../../kernel/base/sliced.js';

/** A decision as it was recorded. */
export type RecordedDecision = {
  readonly input: Pick<DecisionInput, 'observation' | 'context' | 'data' | 'facts'>;
  /** What the request said of the state, for this decision alone. */
  readonly npcState: JsonObject;
  readonly output: string;
  readonly verdict: Verdict;
  readonly replacedBy?: string;
};

/** The members of an output from which a case can make it. */
const PARTS: readonly string[] = ['dialogue', 'action', 'stateDelta'];

const parsed = (output: string): Json => {
  try {
    return JSON.parse(output) as Json;
  } catch {
    return null;
  }
};

/** What the model wrote, in its parts if they say exactly the same, because a person reads and changes them more easily. */
const written = (output: string): JsonObject => {
  const whole = { output: output.toWellFormed() };
  const body = parsed(output);
  if (!isObject(body)) return whole;
  const parts = defined(Object.fromEntries(PARTS.map((name) => [name, body[name]]))) as JsonObject;
  const isReadable = 'cases' in drained(readRuleCases([{ name: '', when: parts, then: { valid: true } }]));
  const same = isSameJson(readModelText(output) as Json, readModelText(outputOf(parts)) as Json);
  return isReadable && same ? parts : whole;
};

const isEmpty = (object: JsonObject): boolean => Object.keys(object).length === 0;
const withoutEmpty = (objects: Readonly<Record<string, JsonObject>>): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(Object.entries(objects).filter(([, object]) => !isEmpty(object)));

/** What must follow: all that a case can expect of this verdict. */
const expected = ({ verdict, replacedBy }: RecordedDecision): JsonObject => {
  const { valid, dialogue, action, stateDelta, reason, details } = verdict;
  const drRuleId = details?.['drRuleId'];
  if (!valid)
    return defined({
      ...{ valid, reason: reason ?? dialogue },
      drRuleId: typeof drRuleId === 'string' ? drRuleId : undefined,
      dialogue,
    });
  // What the action has not is expected, too, so that the case fails if it is swapped for one that has.
  const whole = action && { type: action.type, target: action.target ?? '', payload: action.payload ?? null };
  return defined({ ...{ valid, action: whole ?? undefined, dialogue, stateDelta }, replacedBy });
};

/** Makes a case of what happened, as a file of tests has it. */
export const caseOfTurn = (name: string, decision: RecordedDecision): JsonObject => {
  const { input, npcState, output } = decision;
  const { observation, data: state, facts } = input;
  const context = isObject(input.context) ? input.context : {};
  const given = withoutEmpty({ state, facts, context, npcState });
  return {
    name,
    ...(isEmpty(given) ? {} : { given }),
    when: { ...(observation === '' ? {} : { observation: observation.toWellFormed() }), ...written(output) },
    then: expected(decision),
  };
};
