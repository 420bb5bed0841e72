import type { BridgeAnswer, BridgeQuestion } from '../../../rules/domain/bridge/validate.js';
import type { DirectiveRuleSet, RulesetUsed } from '../../../rules/domain/ruleset.js';
import type { Json } from '../../../../kernel/base/json.js';
import { shortenedObject } from '../../../../kernel/base/shorten.js';
import { cutJsonText } from '../../../../kernel/base/text.js';
import { CURRENT_LOGIC, type Logic, logicOf } from './logic.js';
import type { NpcEvent } from '../../../npcs/domain/events.js';
import { DETAILS_BYTES, DIALOGUE_BYTES } from '../../../npcs/domain/recorded-bytes.js';
import type { MindState } from '../../../npcs/domain/state.js';

/** The part of an answer of the bridge that a check records. */
type RecordedAnswer = Omit<BridgeAnswer, 'checks'>;

/** The answer of a logic to a question, in its recorded form: long parts are shortened. */
export const recordedAnswer = ({ validateAction }: Logic, question: BridgeQuestion): RecordedAnswer => {
  const { checks: _, ...answer } = validateAction(question);
  return {
    ...answer,
    reason: answer.reason && cutJsonText(answer.reason, DIALOGUE_BYTES),
    details: shortenedObject(answer.details, DETAILS_BYTES),
  };
};

/** Decides whether the world allows a mind to act, and records the decision. */
export const checkOfMind = (
  mind: MindState,
  asked: {
    readonly action: Json;
    readonly context: Json;
    readonly chosen: { readonly ruleset: DirectiveRuleSet | null; readonly used: RulesetUsed | null };
    readonly patternsHeld: readonly string[];
  },
): readonly NpcEvent[] => {
  const { chosen, patternsHeld, ...inputs } = asked;
  const { ruleset, used } = chosen;
  return [
    {
      type: 'BridgeChecked',
      data: {
        mindRevision: mind.revision,
        logic: CURRENT_LOGIC,
        ...inputs,
        ruleset: used,
        ...(patternsHeld.length === 0 ? {} : { patternsHeld }),
        ...recordedAnswer(logicOf(CURRENT_LOGIC), {
          ...inputs,
          ruleset,
          patternsHeld,
          recorded: mind.data,
          facts: mind.facts ?? {},
        }),
      },
    },
  ];
};
